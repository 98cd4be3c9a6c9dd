// Package host holds the causes that a machine, its kernel or a limit makes: CPUs, memory,
// disks, processes that are stopped or killed.
package host

import "snag/suspects/suspect"

// All are the suspects of this kind, in the order in which they are printed. A new one is a
// file and a line here.
var All = []*suspect.Suspect{
	serviceKilled,
	syscallFailing,
	fdLimit,
	cpuThrottled,
	cpuSaturated,
	runQueueWait,
	diskStall,
	memoryLimit,
	swapping,
	memoryFragmentation,
	numaImbalance,
	machinePaused,
	kernelHotPath,
	processStopped,
}
