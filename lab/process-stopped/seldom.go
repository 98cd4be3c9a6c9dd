package processstopped

import (
	"snag/lab"
	"snag/remedies/plan"
)

// Seldom is the incident where the script stops the relay for 7 s in every minute and a
// half. Nothing is seen of it in between, whatever was set: not gone, but too early to say.
var Seldom = lab.Incident{
	Name:  "process-stopped-seldom",
	Title: "a script stops a relay (SIGSTOP) for 7 s in every minute and a half",
	Needs: Incident.Needs,
	Want:  Incident.Want,
	Remedy: &lab.Remedy{
		Start: func(s *lab.Stage) error {
			stops(s, relayed(s), "7s", "83s")
			return s.Err()
		},
		Wrong:   []plan.Change{{Target: plan.Target{Kind: "sysctl", Name: "net.core.somaxconn", Netns: "relay"}, Then: "8192"}},
		Culprit: "relay",
		Auto:    true,
	},
}
