// Package bufferbloat makes a line with a deep queue at its narrowest place, and
// an upload that fills it.
package bufferbloat

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "bufferbloat",
	Title: "an upload keeps the deep queue of a slow line full, and every request across it waits",
	Apart: true,
	Needs: []lab.Tool{lab.IP, lab.TC},
	Want: lab.Want{
		Suspect: "bufferbloat",
		Subject: `eth0`,
	},
	Distractor: "a long path: as long a round trip, and never a shorter one; no queue stands",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	a, r, b := s.Netns("office"), s.Netns("router"), s.Netns("cloud")
	delay, rate := "10ms", "40mbit"
	switch v {
	case lab.Sick:
		rate = "8mbit"
	case lab.Distractor:
		delay = "200ms"
	}
	relay := s.Actor("", "wan-path", "tun-relay", []string{"--a", a + "/wan0/10.77.8.1/24", "--b", r + "/wan0/10.77.8.2/24", "--delay", delay})
	s.AwaitPrinted(relay, "ready")
	s.Veth(lab.End{Netns: r, Device: "eth0", Addr: "10.77.9.1/24"}, lab.End{Netns: b, Device: "eth0", Addr: "10.77.9.2/24"})
	s.Command(r, "sysctl", "-qw", "net.ipv4.ip_forward=1")
	s.Command(b, "ip", "route", "add", "default", "via", "10.77.9.1")
	// The sender's window is held at a size, as a sender's buffer or a cap would:
	// the queue stands at what is more than the path holds (20 kB at 8 Mbit/s).
	window := lab.At(s, "120", "300", "900") // segments of 1,448 bytes
	s.Command(a, "ip", "route", "add", "10.77.9.0/24", "via", "10.77.8.2", "cwnd", "lock", window)
	s.Command(r, "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "16kb", "limit", "4mb")
	sink := s.Actor(b, "backup-server", "tcp-sink", []string{"--listen", "10.77.9.2:873"})
	s.AwaitPrinted(sink, "ready")
	app := s.Actor(b, "app-server", "rr-server", []string{"--listen", "10.77.9.2:8080"})
	s.AwaitPrinted(app, "ready")
	s.Actor(a, "app-client", "rr-client", []string{"--to", "10.77.9.2:8080", "--conns", "2", "--every", "100ms"})
	// More than the slow line carries, less than the fast one.
	s.Actor(a, "backup", "tcp-source", []string{"--to", "10.77.9.2:873", "--rate", "2000000", "--congestion", "cubic"})
	s.AwaitGrowth(b, "Tcp", "InSegs", 2000)
	return s.Err()
}
