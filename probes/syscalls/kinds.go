package syscalls

import (
	"strings"

	"snag/probes/syscalls/uring"
	"snag/probes/threads"
	"snag/recording"
)

// Kinds of calls, as tables.h has them.
const (
	kindFD = 1 << iota
	kindRead
	kindWrite
	kindAsked2
	kindAsked3
	kindAsked4
	kindBuffer
	kindVector
	kindMessage
	kindClose
	kindAccept
	kindConnect
	kindFork
)

// numbers is how many of a table the kernel side knows the kinds of; calls beyond
// are counted without descriptor and bytes.
const numbers = 512

const (
	compatBit = 1 << 31 // NR_COMPAT
	x32Bit    = 1 << 30 // __X32_SYSCALL_BIT of amd64
)

// kindOf are the calls that move bytes, or change what descriptors there are. What
// else has a descriptor first, threads knows.
var kindOf = map[string]uint16{
	"read": kindRead | kindAsked2 | kindBuffer, "pread64": kindRead | kindAsked2 | kindBuffer,
	"write": kindWrite | kindAsked2 | kindBuffer, "pwrite64": kindWrite | kindAsked2 | kindBuffer,
	"recvfrom": kindRead | kindAsked2 | kindBuffer, "recv": kindRead | kindAsked2 | kindBuffer,
	"sendto": kindWrite | kindAsked2 | kindBuffer, "send": kindWrite | kindAsked2 | kindBuffer,
	// Of vectors and messages how much was asked stands in memory: it is not read.
	"readv": kindRead | kindVector, "preadv": kindRead | kindVector, "preadv2": kindRead | kindVector,
	"writev": kindWrite | kindVector, "pwritev": kindWrite | kindVector, "pwritev2": kindWrite | kindVector,
	"recvmsg": kindRead | kindMessage, "sendmsg": kindWrite | kindMessage,
	"sendfile": kindWrite | kindAsked3, "sendfile64": kindWrite | kindAsked3,
	"splice": kindRead | kindAsked4, "copy_file_range": kindRead | kindAsked4,
	"tee": kindRead | kindAsked2, "vmsplice": kindWrite,
	"close":  kindClose,
	"accept": kindAccept, "accept4": kindAccept, "connect": kindConnect,
	"fork": kindFork, "vfork": kindFork, "clone": kindFork, "clone3": kindFork,
}

// kindsOf makes the table of kinds for the kernel side.
func kindsOf(names map[int]string) (table [numbers]uint16) {
	for nr, name := range names {
		if nr < 0 || nr >= numbers {
			continue
		}
		kind := kindOf[name]
		if _, ok := threads.Descriptor(name, 0); ok {
			kind |= kindFD
		}
		table[nr] = kind
	}
	return table
}

// callName names a number of the kernel side's.
func callName(nr uint32) string {
	if nr&(compatBit|x32Bit|uringBit) == uringBit {
		return uring.Name(nr &^ uringBit)
	}
	if nr&compatBit != 0 {
		return threads.CompatName(int(nr &^ compatBit))
	}
	return threads.CallName(int(nr))
}

// moves tells which way a call of that name moves bytes, and whether how many were
// asked for is known.
func moves(name string) (bytes, asked bool) {
	if strings.HasPrefix(name, recording.UringPrefix) {
		return uring.Moves(name), false
	}
	k := kindOf[strings.TrimSuffix(name, threads.CompatSuffix)]
	return k&(kindRead|kindWrite) != 0, k&(kindAsked2|kindAsked3|kindAsked4) != 0
}
