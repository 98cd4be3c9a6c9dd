// Package synflood makes a flood of SYNs from forged addresses against a listener
// that many real clients use.
package synflood

import (
	"snag/lab"
	"snag/lab/actor"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "syn-flood",
	Title: "SYNs from forged addresses fill a listener's queue of half-open connections; SYN cookies are off",
	Long:  true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "syn-flood",
		Subject:  `:8080`,
		Symptoms: []string{"connect-latency"},
	},
	Distractor: "bursts of real clients over a long path: as many half open for a moment, cookies are sent, and all of them finish",
	// A burst may be more than the accept queue takes at once: true there as well.
	DistractorWant: lab.Want{Also: []string{"listen-overflow"}},
	Start:          start,
}

func start(s *lab.Stage, v lab.Variant) error {
	srv, cli := s.Netns("server"), s.Netns("clients")
	relay := s.Actor("", "wan-path", "tun-relay", []string{"--a", cli + "/wan0/10.77.12.2/24", "--b", srv + "/wan1/10.77.12.1/24", "--delay", "25ms", "--jitter", "40ms"})
	s.AwaitPrinted(relay, "ready")
	cookies := "0"
	if v == lab.Distractor {
		cookies = "1"
	}
	s.Command(srv, "sysctl", "-qw", "net.ipv4.tcp_syncookies="+cookies, "net.ipv4.tcp_max_syn_backlog=256", "net.core.somaxconn=128")
	s.AwaitPrinted(s.Actor(srv, "shop-server", "slow-acceptor", []string{"--listen", "10.77.12.1:8080", "--backlog", "128"}), "ready")
	rate, burst := "40", "1"
	if v == lab.Distractor {
		rate, burst = "300", "200"
	}
	app := s.Actor(cli, "shop-client", "caller", []string{"--to", "10.77.12.1:8080", "--rate", rate, "--burst", burst, "--clients", "400", "--timeout", "30s"})
	switch v {
	case lab.Sick:
		attack := s.Actor("", "botnet", "syn-flood", []string{"--at", srv + "/wan0/198.18.0.1/16", "--to", "10.77.12.1:8080", "--rate", lab.At(s, "200", "500", "4000")})
		s.AwaitPrinted(attack, "ready")
		s.AwaitGrowth(srv, "TcpExt", "ListenDrops", 300)
	case lab.Distractor:
		s.AwaitGrowth(srv, "TcpExt", "SyncookiesRecv", 100)
	}
	s.AwaitOutput(app, "answers", func(printed string) bool {
		line, _ := actor.LastLine(printed)
		return line.Count["answer"] >= 40 || v == lab.Sick
	})
	return s.Err()
}
