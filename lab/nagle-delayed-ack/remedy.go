package nagledelayedack

import (
	"snag/lab"
	"snag/remedies/plan"
)

// The receiver acknowledges at once (quickack on its route); a larger first window, which
// blogs praise, has nothing to do with it.
var remedy = &lab.Remedy{
	Culprit: "client",
	Wrong:   []plan.Change{{Target: plan.Target{Kind: "route", Name: "initcwnd", Route: "10.81.1.0/24", Netns: "server"}, Then: "20"}},
}
