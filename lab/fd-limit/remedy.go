package fdlimit

import (
	"snag/lab"
	"snag/remedies/plan"
)

// The limit is raised while the server runs; a longer accept queue only lets more wait.
var remedy = &lab.Remedy{
	Wrong: []plan.Change{{Target: plan.Target{Kind: "sysctl", Name: "net.core.somaxconn", Netns: "server"}, Then: "8192"}},
}
