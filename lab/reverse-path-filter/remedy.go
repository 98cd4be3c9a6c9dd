package reversepathfilter

import (
	"snag/lab"
	"snag/remedies/plan"
)

// The filter takes any interface that leads to the sender (loose).
var remedy = &lab.Remedy{
	Culprit: "rx",
	Wrong:   []plan.Change{{Target: plan.Target{Kind: "txqueuelen", Device: "eth1", Netns: "rx"}, Then: "10000"}},
}
