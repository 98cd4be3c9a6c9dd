package recording

import "hash/fnv"

// mostPID is the largest number that a process can have (PID_MAX_LIMIT,
// include/linux/threads.h).
const mostPID = 1 << 22

// StandIn is a number for the process that wrote a file that does not name it: the
// same for each file of that name, and none that a process can have.
func StandIn(name string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return mostPID + 1 + int(h.Sum32()>>2)
}

// StandsIn reports whether a number is a StandIn: not to be shown to people.
func StandsIn(pid int) bool { return pid > mostPID }
