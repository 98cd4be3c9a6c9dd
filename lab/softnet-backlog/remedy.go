package softnetbacklog

import (
	"time"

	"snag/lab"
	"snag/remedies/plan"
)

// A backlog that holds a burst. Longer rounds take no more in.
var remedy = &lab.Remedy{
	For:   15 * time.Second, // a burst per second
	Wrong: []plan.Change{{Target: plan.Target{Kind: "sysctl", Name: "net.core.netdev_budget"}, Then: "600"}},
}
