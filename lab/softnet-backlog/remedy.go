package softnetbacklog

import (
	"snag/lab"
	"snag/remedies/plan"
)

// A backlog that holds a burst. Longer rounds take no more in.
var remedy = &lab.Remedy{
	Wrong: []plan.Change{{Target: plan.Target{Kind: "sysctl", Name: "net.core.netdev_budget"}, Then: "600"}},
}
