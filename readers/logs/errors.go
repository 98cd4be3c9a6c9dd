package logs

import (
	"snag/recording"
)

// errorKey is a call that failed, of whom.
type errorKey struct{ call, errno, local, peer string }

// failed counts calls that failed, by the second.
type failed struct {
	sub    recording.Subject
	out    recording.Sink
	second int64
	counts map[errorKey]uint64
	rows   int
	left   uint64
}

// mostErrors rows of a file.
const mostErrors = 50_000

func (f *failed) add(e *entry) {
	if e.errno == "" {
		return
	}
	if s := floor(e.at); s != f.second {
		f.flush()
		f.second = s
	}
	if f.counts == nil {
		f.counts = map[errorKey]uint64{}
	}
	key := errorKey{e.call, e.errno, string(e.local), string(e.peer)}
	if _, known := f.counts[key]; !known && len(f.counts) >= 1000 {
		f.left++
		return
	}
	f.counts[key]++
}

func (f *failed) flush() {
	for key, n := range f.counts {
		if f.rows += 2; f.rows > mostErrors {
			f.left += n
			continue
		}
		call := key.call
		if call == "" {
			call = "call" // the line does not say which
		}
		t := recording.Time(f.second * 1e9)
		f.out.Append(recording.CallError{T: t, PID: f.sub.PID, Comm: f.sub.Comm, Call: call, Errno: key.errno, N: n, Proto: "tcp", Local: key.local, Remote: key.peer})
		if row, ok := resetOf(key); ok {
			row.T, row.PID, row.Comm, row.N = t, f.sub.PID, f.sub.Comm, n
			f.out.Append(row)
		}
	}
	clear(f.counts)
}

// resetOf is what an error says of a reset: the kernel gives ECONNRESET for one that
// came on a connection that stood, and ECONNREFUSED for one that answered a connect
// (tcp_reset, net/ipv4/tcp_input.c). EPIPE says that one came before, or that this end
// closed: it is not counted again.
func resetOf(key errorKey) (recording.Reset, bool) {
	row := recording.Reset{Dir: "received", Local: key.local, Remote: key.peer, State: "ESTABLISHED"}
	switch key.errno {
	case "ECONNREFUSED":
		row.State = "SYN_SENT"
		return row, true
	case "ECONNRESET":
		return row, true
	}
	return row, false
}
