package pool

import (
	"cmp"
	"fmt"

	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
)

// convoy is a process whose threads wait for one lock.
type convoy struct {
	process *scene.Process
	looks   []measure.Look
	jammed  map[int]int // of each look with a jam: how many threads waited for the lock
	active  []recording.Interval
	address uint64
	waiters int // most at once
	threads int // in that look

	owned   int // looks in which the lock's word named its holder
	blocked int // of them, the holder slept in a call
	ran     int // of them, the holder was on a CPU
	holder  recording.Thread
	holders map[int]bool
	socket  *scene.Socket // that the holder waited on
	pool    int           // looks in which half of the threads waited to be told of work
	pooled  int           // most threads in such a look

	counted *lockCount // of the waits themselves, where they were counted
}

const (
	// fewWaiting threads at one lock are what any busy server shows now and then.
	fewWaiting = 3
	// jamShare of a process' threads: the lock decides what the process gets done.
	jamShare = 0.5
	// fewJams: a lock is held for milliseconds, looks are a second apart.
	fewJams = 3
)

// convoyOf finds the lock that most of a process' threads wait for, look after
// look; nil where no thread waits in futex.
func convoyOf(p *scene.Process, r *recording.Recording) *convoy {
	c := &convoy{process: p, looks: measure.LooksAt(p), jammed: map[int]int{}, holders: map[int]bool{}, counted: countedConvoy(p, r)}
	for i, l := range c.looks {
		locks, notes := map[uint64]int{}, map[uint64]int{}
		for _, row := range l.Rows {
			switch {
			case row.Futex == 0:
			case row.Lock:
				locks[row.Futex]++
			default:
				notes[row.Futex]++
			}
		}
		address, n := fullest(locks)
		if n >= fewWaiting && float64(n) >= jamShare*float64(len(l.Rows)) {
			c.jammed[i] = n
			if n > c.waiters {
				c.waiters, c.threads, c.address = n, len(l.Rows), address
			}
			c.lookAtHolder(l, address)
		}
		if _, n := fullest(notes); n >= fewWaiting && float64(n) >= jamShare*float64(len(l.Rows)) {
			c.pool++
			c.pooled = max(c.pooled, n)
		}
	}
	if len(c.jammed) == 0 && c.pool == 0 && c.counted == nil {
		return nil
	}
	c.active = spansOf(c.looks, func(i int) bool { return c.jammed[i] > 0 })
	return c
}

// seen reports whether the looks alone show a convoy.
func (c *convoy) seen() bool { return len(c.jammed) >= fewJams && 2*len(c.jammed) >= len(c.looks) }

func fullest(waiters map[uint64]int) (address uint64, n int) {
	for a, w := range waiters {
		if w > n || w == n && a < address {
			address, n = a, w
		}
	}
	return address, n
}

// lookAtHolder finds what the thread that holds the lock was doing.
func (c *convoy) lookAtHolder(l measure.Look, address uint64) {
	for _, row := range l.Rows {
		if row.Futex != address || row.Owner == 0 {
			continue
		}
		c.owned++
		c.holders[row.Owner] = true
		at := l.Thread(row.Owner)
		switch {
		case at == nil || at.Futex == address: // it was let go between the two reads
		case at.State == "R" || at.Syscall == "running":
			c.ran++
			if c.holder.TID == 0 {
				c.holder = *at
			}
		default:
			c.blocked++
			c.holder = *at
			if k := measure.SocketAt(c.process, *at); k != nil {
				c.socket = k
			}
		}
		return
	}
}

// doing is what the holder was seen to do.
func (c *convoy) doing() string {
	text := "in " + cmp.Or(c.holder.Syscall, "an unknown call")
	if c.holder.Syscall == "none" {
		text = "asleep outside of any call (a page fault)"
	}
	if c.holder.FD >= 0 {
		text += fmt.Sprintf(" on descriptor %d", c.holder.FD)
	}
	if c.socket != nil {
		text += " (" + c.socket.First().Proto + " " + c.socket.First().Local
		if remote := c.socket.First().Remote; remote != "" {
			text += " → " + remote
		}
		text += ")"
	}
	return text
}

// waited is how long a thread waits for the lock each time, at least: its share of
// looks in the wait over how often it gave the CPU up, each of which may have been
// such a wait.
func (c *convoy) waited() float64 {
	if c.counted != nil {
		return c.counted.mean()
	}
	worst := 0.0
	for _, t := range c.process.Threads {
		in, first, last := 0, recording.Thread{}, recording.Thread{}
		for _, row := range t.Rows {
			if row.Futex == c.address && row.Lock {
				in++
			}
			if first.T == 0 {
				first = row
			}
			last = row
		}
		seconds := last.T.Sub(first.T).Seconds()
		if in < fewJams || seconds <= 0 || last.Voluntary < first.Voluntary {
			continue
		}
		share := float64(in) / float64(len(t.Rows))
		worst = max(worst, share*seconds/float64(last.Voluntary-first.Voluntary+1))
	}
	return worst
}
