package fqflowlimit

import (
	"snag/lab"
	"snag/remedies/plan"
)

// A longer queue for each flow. The device's own queue length is not fq's.
var remedy = &lab.Remedy{
	Wrong: []plan.Change{{Target: plan.Target{Kind: "txqueuelen", Device: "eth0", Netns: "tx"}, Then: "10000"}},
}
