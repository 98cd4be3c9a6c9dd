package all

import (
	"snag/lab/drawn"
	"snag/lab/healthy/benchmark"
	"snag/lab/healthy/checks"
	"snag/lab/healthy/closes"
	"snag/lab/healthy/deploy"
	nagledelayedack "snag/lab/nagle-delayed-ack"
)

// Families of drawn incidents: those of the lab, then those of real software, then the
// healthy ones.
var Families = []drawn.Family{
	nagledelayedack.Family,

	benchmark.Datagrams,
	benchmark.Disk,
	benchmark.Redis,
	benchmark.Wrk,
	checks.Inventory,
	checks.Redis,
	checks.TLS,
	checks.Web,
	closes.Cancel,
	closes.Players,
	closes.Proxied,
	deploy.BlueGreen,
	deploy.Reload,
	deploy.Rolling,
}
