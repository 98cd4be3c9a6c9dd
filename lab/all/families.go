package all

import (
	cpusaturated "snag/lab/cpu-saturated"
	cputhrottled "snag/lab/cpu-throttled"
	diskstall "snag/lab/disk-stall"
	"snag/lab/drawn"
	eventloopblocked "snag/lab/event-loop-blocked"
	lockconvoy "snag/lab/lock-convoy"
	logsilence "snag/lab/log-silence"
	nagledelayedack "snag/lab/nagle-delayed-ack"
	processstopped "snag/lab/process-stopped"
	runqueuewait "snag/lab/run-queue-wait"
	runtimepause "snag/lab/runtime-pause"
	slowdependency "snag/lab/slow-dependency"
	slowdns "snag/lab/slow-dependency-dns"
	spinlock "snag/lab/spin-lock"
	"snag/lab/swap"
	workerqueue "snag/lab/worker-queue"
	workerqueueprocesses "snag/lab/worker-queue-processes"
)

// Families of drawn incidents: those of the lab, then those of real software, then the
// healthy ones.
var Families = []drawn.Family{
	nagledelayedack.Family,

	eventloopblocked.Family,
	lockconvoy.Family,
	logsilence.Family,
	processstopped.Family,
	runtimepause.Family,
	slowdependency.Family,
	slowdns.Family,
	spinlock.Family,
	workerqueue.Family,
	workerqueueprocesses.Family,

	cpusaturated.Family,
	cputhrottled.Family,
	diskstall.Family,
	runqueuewait.Family,
	swap.Family,
}
