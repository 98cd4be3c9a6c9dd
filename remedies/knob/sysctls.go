package knob

import "slices"

// Sysctl is one setting below /proc/sys that snag may change, and what an engineer
// wants to know of it. Bounds are the kernel's own, or narrower where it takes values
// that no host survives.
//
// A * in the name stands for an interface, or for all or default.
type Sysctl struct {
	Name     string
	About    string
	Unit     string
	Min, Max int64
	Fields   int  // numbers in the value; 0 is one
	Rising   bool // the numbers may not fall
	Words    []string
	Netns    bool // each network namespace has its own
	// Other is the sysctl that takes its place: only one of the two is in force, and the
	// other reads 0. While it is Other, the value is "OTHER=number".
	Other string
	// Rounds is to what multiple the kernel rounds up; -1: to a power of two.
	Rounds int64
	Since  string // the first kernel that has it
	Helps  string
	Hurts  string
	Source string
}

const maxInt32 = 1<<31 - 1

// Sysctls are all that snag sets.
var Sysctls = slices.Concat(coreSysctls, tcpSysctls, addressSysctls, conntrackSysctls, memorySysctls, schedulerSysctls)
