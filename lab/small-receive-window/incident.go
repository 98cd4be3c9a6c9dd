// Package smallreceivewindow makes a receiver whose SO_RCVBUF is too small for
// the round trip of its clients.
package smallreceivewindow

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "small-receive-window",
	Title: "a server sets a small SO_RCVBUF, and uploads over a long round trip crawl",
	Long:  true,
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect: "small-receive-window",
		Subject: `upload-server|10\.77\.10\.`,
	},
	Distractor: "a server that reads slowly: the window is as small, and its receive queue is full",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	a, b := s.Netns("client"), s.Netns("server")
	relay := s.Actor("", "wan-path", "tun-relay", []string{
		"--a", a + "/wan0/10.77.10.1/24", "--b", b + "/wan0/10.77.10.2/24", "--delay", "50ms",
	})
	s.AwaitPrinted(relay, "ready")
	sink := []string{"--listen", "10.77.10.2:8080"}
	switch v {
	case lab.Sick:
		sink = append(sink, "--rcvbuf", lab.At(s, "100000", "65536", "16384"))
	case lab.Distractor:
		sink = append(sink, "--rate", "500000")
	}
	s.AwaitPrinted(s.Actor(b, "upload-server", "tcp-sink", sink), "ready")
	// 1.5 MB/s: a window of 150 kB at 100 ms, which the kernel grows to by itself.
	s.Actor(a, "upload-client", "tcp-source", []string{"--to", "10.77.10.2:8080", "--rate", "1500000", "--congestion", "cubic"})
	// Past the growth of the first seconds; a slow reader's buffer is full by then.
	s.AwaitGrowth(b, "Tcp", "InSegs", lab.At[uint64](s, 1000, 1000, 500))
	if v != lab.Sick {
		s.AwaitGrowth(b, "Tcp", "InSegs", 1500)
	}
	return s.Err()
}
