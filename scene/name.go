package scene

import (
	"fmt"
	"slices"
	"strings"

	"snag/recording"
)

// Name is what a person on call would call a subject.
func (s *Scene) Name(sub recording.Subject) string {
	who, where := s.who(sub)
	switch sub.Kind {
	case recording.KindProcess:
		return who + where
	case recording.KindThread:
		of := fmt.Sprintf("process %d", sub.PID)
		if p := s.Process(sub.PID); p != nil {
			of, _ = s.who(p.Subject)
		}
		if sub.Comm == "" {
			return fmt.Sprintf("thread %d of %s", sub.TID, of)
		}
		return fmt.Sprintf("thread %d (%s) of %s", sub.TID, sub.Comm, of)
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
		return join(who, join(sub.Proto, sub.Local)+" → "+sub.Remote) + where
	case recording.KindPort:
		return withKnob(sub.Proto+" port "+sub.Local, sub.Path) + where
	case recording.KindInterface:
		return withKnob(sub.Device, sub.Path) + where
	case recording.KindQdisc:
		return join(join("qdisc", sub.Path), strings.TrimSpace(sub.Handle+" on "+sub.Device)) + where
	case recording.KindCgroup:
		return s.groupName(sub)
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

// who is the process of a subject, with the script that it runs, and where it is: in which unit,
// container or pod, where its name does not say that already, and in which network namespace.
func (s *Scene) who(sub recording.Subject) (who, where string) {
	var places []string
	if sub.PID != 0 {
		name := orUnknown(sub.Comm)
		p := s.Process(sub.PID)
		if c := s.ended[sub.PID]; p == nil && c != "" && sub.Comm != "" {
			name = c // a thread's name is what was seen of it otherwise
		}
		if p != nil && sub.Comm != "" && p.Last().Comm == sub.Comm {
			name = title(p.Last())
			if place := s.place(p); place != "" && !says(sub.Comm, place) {
				places = append(places, place)
			}
		}
		who = fmt.Sprintf("%s[%d]", name, sub.PID)
		if recording.StandsIn(sub.PID) {
			who = name
		}
	}
	if n := s.NetnsName(sub.Netns); n != "" && !slices.Contains(places, strings.TrimPrefix(n, "of ")) {
		places = append(places, "netns "+strings.TrimPrefix(n, "netns "))
	}
	if len(places) > 0 {
		where = " (" + strings.Join(places, ", ") + ")"
	}
	return who, where
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
