package all

import (
	"snag/lab/drawn"
	"snag/lab/healthy/backup"
	"snag/lab/healthy/benchmark"
	"snag/lab/healthy/checks"
	"snag/lab/healthy/churn"
	"snag/lab/healthy/closes"
	"snag/lab/healthy/deploy"
	"snag/lab/healthy/jobs"
	"snag/lab/healthy/resting"
	"snag/lab/healthy/slow"
	"snag/lab/healthy/streams"
	"snag/lab/healthy/waits"
	nagledelayedack "snag/lab/nagle-delayed-ack"
)

// Families of drawn incidents: those of the lab, then those of real software, then the
// healthy ones.
var Families = []drawn.Family{
	nagledelayedack.Family,

	backup.Archive,
	backup.Build,
	backup.Copy,
	benchmark.Datagrams,
	benchmark.Disk,
	benchmark.Redis,
	benchmark.Wrk,
	checks.Inventory,
	checks.Redis,
	checks.TLS,
	checks.Web,
	churn.Connections,
	churn.Names,
	closes.Cancel,
	closes.Players,
	closes.Proxied,
	deploy.BlueGreen,
	deploy.Reload,
	deploy.Rolling,
	jobs.Cron,
	jobs.Logrotate,
	jobs.Quota,
	resting.Memory,
	resting.Processes,
	resting.Redis,
	resting.Web,
	slow.Far,
	slow.Work,
	streams.Players,
	streams.Voice,
	waits.LongPoll,
	waits.Redis,
	waits.WebSockets,
}
