package recorded

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"snag/internal/calls"
	"snag/internal/conversation"
	"snag/recording"
)

// Conversation is what the recording shows of a descriptor of a process; pid 0: of the one that has it. A
// recording counts calls by the second, so that the messages of a second are all of one size.
func Conversation(r *recording.Recording, name string, pid, fd int) (c conversation.Conversation, err error) {
	seconds, pids := map[recording.Time]*second{}, map[int]bool{}
	for _, row := range r.Calls {
		if row.FD != fd || row.PID == 0 || pid != 0 && row.PID != pid || row.Done == nil {
			continue
		}
		n := row.N
		for _, failed := range row.Errors {
			n -= min(n, failed)
		}
		if n == 0 || *row.Done == 0 {
			continue
		}
		pids[row.PID] = true
		s := seconds[row.T]
		if s == nil {
			s = &second{}
			seconds[row.T] = s
		}
		if calls.Of(row.Call)&calls.Reads != 0 {
			s.reads, s.in = s.reads+n, s.in+*row.Done
		} else if calls.Of(row.Call)&calls.Writes != 0 {
			s.writes, s.out = s.writes+n, s.out+*row.Done
		}
	}
	switch {
	case len(pids) > 1:
		return c, fmt.Errorf("%s: descriptor %d is of processes %v: choose one with --pid", name, fd, slices.Sorted(maps.Keys(pids)))
	case len(pids) == 0:
		return c, fmt.Errorf("%s has no calls that moved bytes over descriptor %d: record its process with snag syscalls, or give a trace of strace", name, fd)
	}
	pid = slices.Collect(maps.Keys(pids))[0]
	serves := servesOn(r, pid, fd)
	times := slices.Sorted(maps.Keys(seconds))
	for _, t := range times {
		s := seconds[t]
		if serves {
			s.turn()
		}
		c.Events = append(c.Events, s.events(t.Sub(times[0]))...)
	}
	c.Timed = true
	c.From = fmt.Sprintf("%s, descriptor %d of process %d, %d seconds of calls", name, fd, pid, len(times))
	c.Lacks = []string{"each message: those of one second are taken as equal, and evenly over it", "the split of a message over writes", "timeouts"}
	if serves {
		c.Lacks = append(c.Lacks, "the client's writes: this is the server's end, and its reads are used instead")
	}
	options(&c, r, pid, fd)
	if len(c.Messages()) == 0 {
		return c, fmt.Errorf("%s: nothing was sent over descriptor %d of process %d", name, fd, pid)
	}
	return c, nil
}

// second counts the calls of one second.
type second struct{ writes, out, reads, in uint64 }

func (s *second) turn() { s.writes, s.out, s.reads, s.in = s.reads, s.in, s.writes, s.out }

// events are the second's writes, evenly over it, each with its part of what was read.
func (s *second) events(at time.Duration) (out []conversation.Event) {
	n := min(s.writes, s.out, mostMessages)
	if n == 0 && s.in > 0 { // the answer to an earlier second's
		return []conversation.Event{{Begin: at, End: at, Bytes: int(s.in)}}
	}
	for i := range n {
		t := at + time.Duration(float64(i)/float64(n)*float64(time.Second))
		out = append(out, conversation.Event{Begin: t, End: t, Out: true, Bytes: part(s.out, n, i)})
		if answer := part(s.in, n, i); answer > 0 {
			out = append(out, conversation.Event{Begin: t, End: t, Bytes: answer})
		}
	}
	return out
}

// mostMessages of a second are kept: more calls are taken together.
const mostMessages = 10_000

// part is the i-th of n parts of a whole, so that all together are the whole.
func part(whole, n, i uint64) int {
	each, rest := whole/n, whole%n
	if i < rest {
		each++
	}
	return int(each)
}
