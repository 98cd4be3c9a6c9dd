package listenoverflow

import (
	"snag/lab"
	"snag/remedies/plan"
)

// The program asks for a long queue, and the namespace's somaxconn cuts it to 5: raised, and
// the program started again, it holds. More room for half-open connections does not.
var remedy = &lab.Remedy{
	Start: func(s *lab.Stage) error {
		srv, cli := topology(s)
		s.Command(srv, "sysctl", "-qw", "net.core.somaxconn="+lab.At(s, "5", "5", "1"))
		return traffic(s, lab.Sick, srv, cli, "1024", "20ms")
	},
	Restart: map[string]func([]string) []string{"playlist-srv": nil},
	Wrong:   []plan.Change{{Target: plan.Target{Kind: "sysctl", Name: "net.ipv4.tcp_max_syn_backlog", Netns: "server"}, Then: "8192"}},
}
