package qdiscdrop

import (
	"snag/lab"
	"snag/remedies/plan"
)

// The shaper gets what its senders need; a longer queue of the device lies behind it.
var remedy = &lab.Remedy{
	Culprit: "tx",
	Wrong:   []plan.Change{{Target: plan.Target{Kind: "txqueuelen", Device: "eth0", Netns: "tx"}, Then: "10000"}},
}
