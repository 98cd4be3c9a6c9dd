package suspect

import (
	"fmt"

	"snag/recording"
)

// Setting is a change that a remedy is made of, as data: Finding.Remedy says the same
// as a command and in words. Its kinds and values are those of remedies/knob.
type Setting struct {
	Kind string // sysctl, route, qdisc, cpu-quota, nofile …
	Name string // of the sysctl, the route's metric, the qdisc's option, the unit's property
	// At says where: Netns, Device, Cgroup, PID.
	At     recording.Subject
	Route  string // the address whose route it is
	Parent string // of a qdisc: root, or a class as 8001:1
	Queue  *int   // of At.Device
	IRQ    int
	Unit   string // of systemd
	Value  string
	// AtLeast: a larger value is as good, and is never made smaller.
	AtLeast bool
	Why     string
	Risk    string
	Needs   string // a restart of whom, a driver
	// Group: settings of a finding with the same one only hold together.
	Group string
	// Either: of a finding's settings with the same one each is enough. They stand in
	// the order of choice, and a plan takes the first that can be set.
	Either string
}

// String is the setting in one line: sysctl net.core.somaxconn → 4096.
func (s Setting) String() string {
	text := s.Kind
	for _, part := range []string{s.Name, s.Unit, s.Parent, s.At.Cgroup} {
		if part != "" {
			text += " " + part
		}
	}
	if s.IRQ != 0 {
		text += fmt.Sprintf(" %d", s.IRQ)
	}
	if s.Kind == "nofile" {
		text += fmt.Sprintf(" of process %d", s.At.PID)
	}
	if s.Route != "" {
		text += " on the route to " + s.Route
	}
	if s.At.Device != "" {
		text += " of " + s.At.Device
	}
	if s.Queue != nil {
		text += fmt.Sprintf(" queue %d", *s.Queue)
	}
	return text + " → " + s.Value
}

// Call is what only the program can change.
type Call struct {
	Who recording.Subject
	Do  string // the exact call or option
	Why string
}

// Whose names who would make it: relay[812].
func (c Call) Whose() string {
	switch {
	case c.Who.PID != 0:
		return fmt.Sprintf("%s[%d]", c.Who.Comm, c.Who.PID)
	case c.Who.Name != "":
		return c.Who.Name
	}
	return "the program"
}

// WhoseCall is whose call it would be.
func WhoseCall(sub recording.Subject) recording.Subject {
	return recording.Subject{Kind: recording.KindProcess, PID: sub.PID, Comm: sub.Comm}
}

// InSpace is the place of a setting that each network namespace has its own of.
func InSpace(netns uint64) recording.Subject { return recording.Subject{Netns: netns} }

// OnDevice is the place of a setting of an interface.
func OnDevice(netns uint64, device string) recording.Subject {
	return recording.Subject{Netns: netns, Device: device}
}
