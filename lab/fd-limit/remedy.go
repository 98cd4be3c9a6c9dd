package fdlimit

import (
	"snag/lab"
	"snag/remedies/plan"
)

// The soft limit is raised while the server runs, up to the hard one: to raise that too
// takes CAP_SYS_RESOURCE, which root in a container has not. A longer accept queue only
// lets more wait.
var remedy = &lab.Remedy{
	Start:   func(s *lab.Stage) error { return leak(s, lab.Sick, "--hard", "4096") },
	Culprit: "server",
	Wrong:   []plan.Change{{Target: plan.Target{Kind: "sysctl", Name: "net.core.somaxconn", Netns: "server"}, Then: "8192"}},
}
