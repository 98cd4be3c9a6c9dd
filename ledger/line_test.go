package ledger

import (
	"math"
	"testing"
)

// What waits unread waits behind those who would read it, and not where one of their like is free.
func TestTaken(t *testing.T) {
	call, work := place{account: Call, where: "10.0.0.9:80"}, place{account: Work}
	for _, c := range []struct {
		what        string
		at          place
		busy, spare float64
		least, most float64
	}{
		{"a pool of nine, of which one is in a call", call, 0.9, 8, 0, 0.01},
		{"a pool of eight that are all taken", call, 7.9, 0.1, 1, 1},
		{"nobody was ever seen to wait for work", call, 1, 0, 1, 1},
		{"half of four are free", call, 2, 2, 0.01, 0.2},
		{"who computes may be who reads", work, 0.9, 8, 1, 1},
	} {
		d := newDoing()
		d.busy[c.at], d.spare[c.at] = c.busy, c.spare
		if got := d.taken(c.at); got < c.least || got > c.most {
			t.Errorf("%s: %.3f, want %.2f to %.2f", c.what, got, c.least, c.most)
		}
	}
}

// Requests for which nobody works wait for the disk that the one thread waits for which writes the
// log of all.
func TestOneWritesForAll(t *testing.T) {
	for _, c := range []struct{ disk, want float64 }{{0.8, 8}, {0.3, 0}, {2, 10}} {
		now := newDoing()
		now.busy[place{account: Disk}] = c.disk
		d := demand{party: &Party{}}
		d.outside(0, 10, now, nil, 0)
		if got := d.party.Of(Disk); math.Abs(got-c.want) > 1e-9 || math.Abs(got+d.party.Of(Parked)-10) > 1e-9 {
			t.Errorf("a thread waits for a disk for %.1f of a second: %.1f of 10 request-seconds, want %.1f", c.disk, got, c.want)
		}
	}
}

// On a round trip of seconds timers fire for what is still on its way.
func TestTimersBehindAQueue(t *testing.T) {
	for _, c := range []struct {
		rtt         float64
		loss, queue float64
	}{{0.05, 6, 4}, {1.001, 0, 10}} {
		p := &Party{Demand: 10, Answered: 100}
		p.bookCall(way{minRTT: 0.001, rtt: c.rtt, rto: 0.3, resent: 20, long: 10}, "x", 0)
		if loss, queue := p.Of(Loss), p.Of(Queue); math.Abs(loss-c.loss) > 0.2 || math.Abs(queue-c.queue) > 0.2 {
			t.Errorf("a round trip of %.2f s: %.1f s lost, %.1f in queues; want %.1f and %.1f", c.rtt, loss, queue, c.loss, c.queue)
		}
	}
}

// A call that a thread was found waiting for is not booked again to a request that has no thread:
// that one waits for a connection.
func TestCallsAreBookedOnce(t *testing.T) {
	for _, c := range []struct{ inCalls, calls, line float64 }{{0, 10, 0}, {8, 2, 8}, {12, 0, 10}} {
		now := newDoing()
		called := callsOf{}
		called.add(7, 0, "db", 10, 10)
		d := demand{party: &Party{PIDs: []int{7}}}
		d.outside(0, 10, now, called, c.inCalls)
		calls, line := 0.0, 0.0
		for _, e := range d.party.Entries {
			if line += e.InLine; e.pool == 0 {
				calls += e.Seconds
			}
		}
		if math.Abs(calls-c.calls) > 1e-9 || math.Abs(line-c.line) > 1e-9 {
			t.Errorf("%.0f of 10 calls have a thread: %.1f booked as calls and %.1f in line, want %.0f and %.0f", c.inCalls, calls, line, c.calls, c.line)
		}
	}
}
