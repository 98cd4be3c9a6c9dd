package ephemeralports

import (
	"snag/lab"
	"snag/remedies/plan"
)

// More ports. tcp_fin_timeout does nothing for TIME-WAIT, whatever blogs say.
var remedy = &lab.Remedy{
	Wrong: []plan.Change{{Target: plan.Target{Kind: "sysctl", Name: "net.ipv4.tcp_fin_timeout", Netns: "client"}, Then: "10"}},
}
