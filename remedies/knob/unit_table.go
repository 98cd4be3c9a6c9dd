package knob

import "snag/remedies/plan"

// propertyForm is how a property's value is written and sent.
type propertyForm int

const (
	countForm   propertyForm = iota // a number or infinity
	percentForm                     // of one CPU; sent as µs per second
	limitsForm                      // SOFT:HARD; two properties
	setForm                         // of CPUs or nodes
	policyForm                      // of NUMA
)

// unitProperty is one property of a systemd unit.
type unitProperty struct {
	Doc
	form        propertyForm
	property    string // on D-Bus
	least, most uint64 // of countForm
	// live: a unit that runs takes it at once, through its control group. Any other
	// is read from a drop-in when the unit is started anew.
	live bool
}

const (
	resourceSource = "systemd.resource-control(5); org.freedesktop.systemd1(5)"
	execSource     = "systemd.exec(5); org.freedesktop.systemd1(5)"
)

const maxBytes = 1 << 62

var unitProperties = []unitProperty{
	{Doc{"CPUQuota", "CPU time that the unit may use", "% of one CPU", "0.1% to 819200%, or infinity", "systemd 213", "throttled periods (cpu.stat nr_throttled) while CPUs are idle", "others get less", resourceSource}, percentForm, "CPUQuotaPerSecUSec", 0, 0, true},
	{Doc{"CPUWeight", "its share of CPU time where CPUs are short", "weight", "1 to 10000; 100 where nothing is said", "systemd 232", "a unit that waits in run queues behind others", "others get less", resourceSource}, countForm, "CPUWeight", 1, 10000, true},
	{Doc{"IOWeight", "its share of disks where they are short", "weight", "1 to 10000; 100 where nothing is said", "systemd 230", "a unit that waits for the disk behind others", "others get less", resourceSource}, countForm, "IOWeight", 1, 10000, true},
	{Doc{"TasksMax", "threads and processes of the unit", "tasks", "1 to 4194304, or infinity", "systemd 227", "fork or pthread_create that fail with EAGAIN (pids.events)", "a runaway program may take all", resourceSource}, countForm, "TasksMax", 1, 1 << 22, true},
	{Doc{"MemoryHigh", "above it the unit is slowed down and reclaims", "bytes", "4096 to 2^62, or infinity", "systemd 231", "stalls in reclaim of the unit's own group (memory.events high)", "less memory for others", resourceSource}, countForm, "MemoryHigh", 4096, maxBytes, true},
	{Doc{"MemoryMax", "above it something of the unit is killed", "bytes", "4096 to 2^62, or infinity", "systemd 231", "kills by the OOM killer (memory.events oom_kill)", "less memory for others", resourceSource}, countForm, "MemoryMax", 4096, maxBytes, true},
	{Doc{"MemoryLow", "what is not taken from it while others have some", "bytes", "0 to 2^62, or infinity", "systemd 231", "a unit with cache that others evict", "less memory for others", resourceSource}, countForm, "MemoryLow", 0, maxBytes, true},
	{Doc{"LimitNOFILE", "files that each of its processes may have open", "files", "SOFT:HARD, each to 2^62 or infinity", "systemd 1", "EMFILE", "memory where a program makes a table of that size (infinity)", execSource + "; getrlimit(2)"}, limitsForm, "LimitNOFILE", 0, 0, false},
	{Doc{"LimitNPROC", "processes of its user", "processes", "SOFT:HARD, each to 2^62 or infinity", "systemd 1", "fork that fails with EAGAIN; it counts the user's, not the unit's: TasksMax is better", "all programs of that user count", execSource + "; getrlimit(2)"}, limitsForm, "LimitNPROC", 0, 0, false},
	{Doc{"LimitMEMLOCK", "memory that each of its processes may lock", "bytes", "SOFT:HARD, each to 2^62 or infinity", "systemd 1", "ENOMEM of mlock, io_uring, AF_XDP", "memory that can't be swapped", execSource + "; getrlimit(2)"}, limitsForm, "LimitMEMLOCK", 0, 0, false},
	{Doc{"CPUAffinity", "CPUs that its processes run on", "set of CPUs", "as 0-3,8, or unset", "systemd 1", "a unit beside its card's interrupts, or on one NUMA node", "idle CPUs that it is not allowed to use", execSource + "; sched_setaffinity(2)"}, setForm, "CPUAffinity", 0, 0, false},
	{Doc{"NUMAPolicy", "where its memory comes from", "policy", "default, preferred, bind, interleave, local, or unset; with NUMAMask", "systemd 243", "memory of another node than the CPUs'", "bind: the OOM killer while other nodes have memory", execSource + "; set_mempolicy(2)"}, policyForm, "NUMAPolicy", 0, 0, false},
	{Doc{"NUMAMask", "the nodes of NUMAPolicy", "set of nodes", "as 0 or 0-1, or unset", "systemd 243", "as NUMAPolicy", "as NUMAPolicy", execSource}, setForm, "NUMAMask", 0, 0, false},
}

func unitPropertyOf(name string) (*unitProperty, bool) {
	for i := range unitProperties {
		if unitProperties[i].Name == name {
			return &unitProperties[i], true
		}
	}
	return nil, false
}

// Needs is what else a change takes to have an effect, which snag leaves to people: a
// restart of a unit that reads the property when it is started. "" where it takes
// nothing.
func Needs(t plan.Target) string {
	if p, ok := unitPropertyOf(t.Name); t.Kind == "unit" && ok && !p.live {
		return "a restart of " + t.Unit + " (systemctl restart " + t.Unit + "): the processes that run keep what they have"
	}
	return ""
}
