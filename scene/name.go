package scene

import (
	"fmt"
	"strings"

	"snag/recording"
)

// Name is what a person on call would call a subject.
func (s *Scene) Name(sub recording.Subject) string {
	where := ""
	if n := s.NetnsName(sub.Netns); n != "" {
		where = " (netns " + strings.TrimPrefix(n, "netns ") + ")"
	}
	who := ""
	if sub.PID != 0 {
		who = fmt.Sprintf("%s[%d]", orUnknown(sub.Comm), sub.PID)
	}
	if recording.StandsIn(sub.PID) {
		who = orUnknown(sub.Comm)
	}
	switch sub.Kind {
	case recording.KindProcess:
		return who + where
	case recording.KindThread:
		if sub.Comm == "" {
			return fmt.Sprintf("thread %d of process %d", sub.TID, sub.PID)
		}
		return fmt.Sprintf("thread %d (%s) of process %d", sub.TID, sub.Comm, sub.PID)
	case recording.KindListener:
		return join(who, "listening on "+sub.Local) + where
	case recording.KindSocket, recording.KindFlow:
		if sub.Proto == "unix" && strings.HasPrefix(sub.Local, recording.UnixPrefix+"#") { // bound to no address
			return join(who, "→ "+sub.Remote) + where
		}
		if sub.Proto == "udp" && sub.Remote == "" && recording.Port(sub.Local) == "53" { // a name server's
			return join(who, "on "+sub.Local+"/udp") + where
		}
		if sub.Remote == "" {
			return join(who, sub.Proto+" "+sub.Local) + where
		}
		return join(who, sub.Proto+" "+sub.Local+" → "+sub.Remote) + where
	case recording.KindPort:
		return withKnob(sub.Proto+" port "+sub.Local, sub.Path) + where
	case recording.KindInterface:
		return withKnob(sub.Device, sub.Path) + where
	case recording.KindQdisc:
		return join(join("qdisc", sub.Path), strings.TrimSpace(sub.Handle+" on "+sub.Device)) + where
	case recording.KindCgroup:
		return "cgroup " + sub.Cgroup
	case recording.KindNetns:
		if sub.Path != "" { // a setting that all of it shares
			return sub.Path + where
		}
		if where == "" {
			return "this host's network"
		}
		return strings.Trim(where, " ()")
	case recording.KindPeer:
		return "peer " + sub.Remote + where
	case recording.KindDisk:
		return "disk " + sub.Device
	case recording.KindFile:
		return sub.Path
	case recording.KindObserver:
		return "snag itself"
	case recording.KindHost:
		return "this host"
	}
	return sub.Name
}

// withKnob adds the setting or rule that a finding on a subject is about.
func withKnob(name, knob string) string {
	if knob == "" {
		return name
	}
	return name + ", " + knob
}

func join(a, b string) string { return strings.TrimSpace(a + " " + b) }

// orUnknown is a process' name; a trace of one that ran already tells none.
func orUnknown(s string) string {
	if s == "" {
		return "process"
	}
	return s
}
