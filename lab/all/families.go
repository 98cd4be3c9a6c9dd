package all

import (
	cpusaturated "snag/lab/cpu-saturated"
	cputhrottled "snag/lab/cpu-throttled"
	"snag/lab/drawn"
	lockconvoy "snag/lab/lock-convoy"
	nagledelayedack "snag/lab/nagle-delayed-ack"
	processstopped "snag/lab/process-stopped"
	runqueuewait "snag/lab/run-queue-wait"
	spinlock "snag/lab/spin-lock"
	workerqueue "snag/lab/worker-queue"
)

// Families of drawn incidents: those of the lab, then those of real software, then the
// healthy ones.
var Families = []drawn.Family{
	nagledelayedack.Family,

	lockconvoy.Family,
	processstopped.Family,
	spinlock.Family,
	workerqueue.Family,

	cpusaturated.Family,
	cputhrottled.Family,
	runqueuewait.Family,
}
