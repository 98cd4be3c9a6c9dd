package conntrackfull

import (
	"snag/lab"
	"snag/remedies/plan"
)

// A larger table. How long a FIN-WAIT-2 lasts has nothing to do with it.
var remedy = &lab.Remedy{
	Wrong: []plan.Change{{Target: plan.Target{Kind: "sysctl", Name: "net.ipv4.tcp_fin_timeout"}, Then: "10"}},
}
