package syscalls

import (
	"strings"

	"snag/internal/calls"
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

// argumentsOf reports where the calls that move bytes have their length, and their buffers.
// Of vectors and messages how much was asked stands in memory: it is not read.
var argumentsOf = map[string]uint16{
	"read": kindAsked2 | kindBuffer, "pread64": kindAsked2 | kindBuffer, "write": kindAsked2 | kindBuffer, "pwrite64": kindAsked2 | kindBuffer,
	"recvfrom": kindAsked2 | kindBuffer, "recv": kindAsked2 | kindBuffer, "sendto": kindAsked2 | kindBuffer, "send": kindAsked2 | kindBuffer,
	"readv": kindVector, "preadv": kindVector, "preadv2": kindVector, "writev": kindVector, "pwritev": kindVector, "pwritev2": kindVector,
	"recvmsg": kindMessage, "sendmsg": kindMessage, "sendfile": kindAsked3, "sendfile64": kindAsked3,
	"splice": kindAsked4, "copy_file_range": kindAsked4, "tee": kindAsked2, "connect": kindConnect,
}

// kindOf is a call's kind for the kernel side.
func kindOf(name string) uint16 {
	kind, does := argumentsOf[name], calls.Of(name)
	for _, bit := range []struct {
		does calls.Kind
		kind uint16
	}{
		{calls.OnFD, kindFD}, {calls.Reads, kindRead}, {calls.Writes, kindWrite}, {calls.Closes, kindClose}, {calls.Accepts, kindAccept}, {calls.Forks, kindFork},
	} {
		if does&bit.does != 0 {
			kind |= bit.kind
		}
	}
	return kind
}

// kindsOf makes the table of kinds for the kernel side.
func kindsOf(names map[int]string) (table [numbers]uint16) {
	for nr, name := range names {
		if nr < 0 || nr >= numbers {
			continue
		}
		table[nr] = kindOf(name)
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

// moves reports which way a call of that name moves bytes, and whether how many were
// asked for is known.
func moves(name string) (bytes, asked bool) {
	if strings.HasPrefix(name, recording.UringPrefix) {
		return uring.Moves(name), false
	}
	k := kindOf(strings.TrimSuffix(name, threads.CompatSuffix))
	return k&(kindRead|kindWrite) != 0, k&(kindAsked2|kindAsked3|kindAsked4) != 0
}
