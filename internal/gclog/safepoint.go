package gclog

import (
	"bytes"
	"time"
)

const (
	stopped  = "Total time for which application threads were stopped: "
	entering = "Entering safepoint region: "
)

// safepointLine reads what the JVM says of a safepoint when it is over (safepoint.cpp;
// before JDK 13 runtimeService.cpp).
func (r *Reader) safepointLine(stamped, message []byte) {
	switch {
	case hasPrefix(message, `Safepoint "`):
		r.safepoint(stamp(stamped), message[len(`Safepoint "`):])
	case hasPrefix(message, stopped):
		r.stopped(stamp(stamped), message[len(stopped):])
	case hasPrefix(message, entering):
		r.operation = r.share(message[len(entering):])
	}
}

// safepoint reads `G1CollectForAllocation", Time since last: 1634200 ns, Reaching
// safepoint: 92800 ns, At safepoint: 11173200 ns, Total: 11266000 ns`, into which later
// versions put more.
func (r *Reader) safepoint(at Stamp, b []byte) {
	name, rest, ok := bytes.Cut(b, []byte(`"`))
	if !ok {
		return
	}
	e := r.begin(Safepoint)
	for len(rest) > 0 {
		colon := bytes.IndexByte(rest, ':')
		if colon < 0 || colon+2 > len(rest) {
			break
		}
		key := bytes.TrimLeft(rest[:colon], ", ")
		rest = rest[colon+2:]
		d, n := duration(rest)
		if n > 0 {
			switch string(key) {
			case "Reaching safepoint":
				e.Reach = d
			case "Total":
				e.Length = d
			}
			rest = rest[n:]
		}
		comma := bytes.IndexByte(rest, ',')
		if comma < 0 {
			break
		}
		rest = rest[comma:]
	}
	if e.Length == Unknown {
		return
	}
	e.Name, e.Start = r.share(name), at.before(e.Length)
	r.emit(e)
}

// stopped reads `0.0003502 seconds, Stopping threads took: 0.0000151 seconds`, of
// which the second is in JDK 8 and later. The first has it in it.
func (r *Reader) stopped(at Stamp, b []byte) {
	length, n := inSeconds(b)
	if n == 0 {
		return
	}
	e := r.begin(Safepoint)
	e.Length, e.Start, e.Name = length, at.before(length), r.operation
	r.operation = ""
	const took = ", Stopping threads took: "
	if rest := b[n:]; hasPrefix(rest, took) {
		if d, n := inSeconds(rest[len(took):]); n > 0 {
			e.Reach = d
		}
	}
	r.emit(e)
}

// inSeconds reads "0.0003502 seconds" or "0.0003502 secs".
func inSeconds(b []byte) (d time.Duration, n int) {
	whole, frac, n := decimal(b)
	if n == 0 {
		return 0, 0
	}
	letters := 0
	switch {
	case hasPrefix(b[n:], " seconds"):
		letters = len(" seconds")
	case hasPrefix(b[n:], " secs"):
		letters = len(" secs")
	default:
		return 0, 0
	}
	d, ok := times(whole, frac, time.Second)
	if !ok {
		return 0, 0
	}
	return d, n + letters
}
