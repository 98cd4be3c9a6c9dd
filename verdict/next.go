package verdict

import (
	"fmt"

	"snag/recording"
	"snag/scene"
)

// nextFor is the measurement that tells most about a symptom whose cause is not
// known: what the process does instead, or what comes over the wire.
func nextFor(s scene.Symptom) string {
	port := ""
	if !recording.IsUnix(s.Subject.Local) {
		port = recording.Port(s.Subject.Local)
	}
	switch s.Name {
	case scene.StreamFreeze, scene.RequestLatency, scene.StreamLate, scene.ConnectLatency:
		if s.Subject.PID != 0 && !recording.StandsIn(s.Subject.PID) {
			return fmt.Sprintf("for i in 1 2 3; do head /proc/%d/task/*/{comm,wchan,syscall}; sleep 1; done   # what %s does instead", s.Subject.PID, s.Subject.Comm)
		}
	case scene.ConnectionErrors:
		if port != "" {
			return fmt.Sprintf("tcpdump -ni any 'tcp port %s and tcp[tcpflags] & (tcp-rst|tcp-fin|tcp-syn) != 0'", port)
		}
	case scene.FailedAnswers:
		if s.Subject.PID > 0 {
			return fmt.Sprintf("journalctl _PID=%d --since -5min; ls -l /proc/%d/fd | grep log   # what its own log says", s.Subject.PID, s.Subject.PID)
		}
	case scene.DatagramsLost:
		if port != "" {
			return fmt.Sprintf("snag find --port %s --for 60s; tcpdump -ni any udp port %s, at both ends", port, port)
		}
	}
	return "snag find --for 2m --symptom 'what you see, and when', while it happens; the same at the other end"
}
