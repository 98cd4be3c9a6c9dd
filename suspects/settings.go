package suspects

import (
	"snag/recording"
)

// Setting is a change that a remedy is made of, as data: Finding.Remedy says the same
// in words. Its kinds and values are those of remedies/knob.
type Setting struct {
	Kind string // sysctl, route, cpu-quota, nofile …
	Name string // of the sysctl, or the route's metric
	// At says where: Netns, Device, Cgroup, PID.
	At     recording.Subject
	Route  string // the address whose route it is
	Parent string // of a qdisc: root, or a class as 8001:1
	Queue  *int   // of At.Device
	IRQ    int
	Unit   string // of systemd
	Value  string
	Why    string
	Risk   string
	Needs  string // a restart of whom, a driver
	// Group: settings of a finding with the same one only hold together.
	Group string
}

// Call is what only the program can change.
type Call struct {
	Who recording.Subject
	Do  string // the exact call or option
	Why string
}

// whoseCall is whose call it would be.
func whoseCall(sub recording.Subject) recording.Subject {
	return recording.Subject{Kind: recording.KindProcess, PID: sub.PID, Comm: sub.Comm}
}
