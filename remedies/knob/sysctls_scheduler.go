package knob

var schedulerSysctls = []Sysctl{
	{Name: "kernel.numa_balancing", About: "whether pages and tasks are moved to each other's node", Unit: "0: no, 1: yes, 2: to slower memory", Min: 0, Max: 3, Since: "3.8",
		Helps: "0: stalls of page faults that only move pages, where CPUs and memory are bound already", Hurts: "memory of other nodes stays there", Source: "Documentation/admin-guide/sysctl/kernel.rst"},
	{Name: "kernel.sched_autogroup_enabled", About: "whether each terminal session is one group for the scheduler", Unit: "0 or 1", Min: 0, Max: 1, Since: "2.6.38",
		Helps: "0: servers started from a shell that share one group's part", Hurts: "desktops under load", Source: "kernel/sched/autogroup.c"},
	{Name: "kernel.sched_cfs_bandwidth_slice_us", About: "what a CPU takes of a group's quota at once", Unit: "µs", Min: 1000, Max: 1000000, Since: "3.2",
		Helps: "smaller: many threads that strand quota on their CPUs", Hurts: "more locking", Source: "kernel/sched/fair.c; Documentation/scheduler/sched-bwc.rst"},
	{Name: "kernel.sched_rt_runtime_us", About: "of a second, what real-time tasks may take; -1 is all", Unit: "µs", Min: -1, Max: 1000000, Since: "2.6.25",
		Helps: "a real-time program that is stopped for 50 ms each second", Hurts: "-1: a program that spins takes the host", Source: "Documentation/scheduler/sched-rt-group.rst"},
	{Name: "kernel.timer_migration", About: "whether timers move to busy CPUs", Unit: "0 or 1", Min: 0, Max: 1, Since: "2.6.31",
		Helps: "0: jitter of busy CPUs", Hurts: "idle CPUs wake up", Source: "kernel/time/timer.c"},
	{Name: "kernel.sched_min_granularity_ns", About: "how long a task runs at least", Unit: "ns", Min: 100000, Max: 1000000000, Since: "2.6.23 to 5.12",
		Helps: "larger: throughput of many busy threads", Hurts: "latency", Source: "kernel/sched/fair.c"},
	{Name: "kernel.sched_wakeup_granularity_ns", About: "by how much a woken task must be behind to run at once", Unit: "ns", Min: 0, Max: 1000000000, Since: "2.6.23 to 5.12",
		Helps: "smaller: latency of threads that are woken", Hurts: "more switches", Source: "kernel/sched/fair.c"},
	{Name: "kernel.sched_migration_cost_ns", About: "how long a task stays by its cache", Unit: "ns", Min: 0, Max: maxInt32, Since: "2.6.23 to 5.12",
		Helps: "larger: threads that wander between CPUs", Hurts: "idle CPUs while others have queues", Source: "kernel/sched/fair.c"},
	{Name: "kernel.pid_max", About: "the largest process number, and so how many threads there may be", Unit: "processes", Min: 301, Max: 4194304, Since: "2.6",
		Helps: "fork that fails with EAGAIN on hosts with many threads", Hurts: "none known", Source: "kernel/pid.c"},
	{Name: "kernel.threads-max", About: "threads of the whole host", Unit: "threads", Min: 20, Max: maxInt32, Since: "2.4",
		Helps: "fork that fails with EAGAIN", Hurts: "memory", Source: "kernel/fork.c"},
}
