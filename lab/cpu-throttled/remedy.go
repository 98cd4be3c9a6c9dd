package cputhrottled

import (
	"snag/lab"
	"snag/remedies/plan"
)

// The quota is raised while the server runs. Half the quota is a wrong way round.
var remedy = &lab.Remedy{
	Wrong: []plan.Change{{Target: plan.Target{Kind: "cpu-quota", Path: "web"}, Then: "10000 100000"}},
}
