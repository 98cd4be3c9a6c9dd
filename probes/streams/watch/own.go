package watch

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"snag/probes/streams/figures"
)

// beat is how often the ticking goroutine looks at the clock: a reader that is
// woken by a packet waits for a CPU as it does.
const beat = 25 * time.Millisecond

// pulse measures how late this process gets to run, as its readers do: a goroutine
// that wants to wake every beat notes by how much it was late, and writes to a pipe
// that another waits to read. What a busy machine, a throttled cgroup or a stopped
// process does to the readers, it does to these; and where there is hardly any CPU,
// Go sees that a timer is due long before it sees that a socket can be read.
type pulse struct {
	worst atomic.Int64
	asked atomic.Int64 // when the pipe was written to and not read since, ns of time.Since(start); 0: it was read
	start time.Time
}

func (p *pulse) run(ctx context.Context) {
	p.start = time.Now()
	reader, writer, err := os.Pipe()
	if err == nil { // without descriptors the timer alone tells
		var read sync.WaitGroup
		read.Go(func() { p.read(reader) })
		defer read.Wait()
		defer writer.Close()
	}
	next := time.Now().Add(beat)
	t := time.NewTimer(beat)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		now := time.Now()
		p.note(now.Sub(next))
		if err == nil && p.asked.CompareAndSwap(0, max(int64(now.Sub(p.start)), 1)) {
			_, _ = writer.Write([]byte{0}) // it is empty: this never blocks
		}
		next = now.Add(beat) // what was missed is told once, not for each beat
		t.Reset(beat)
	}
}

// read notes how long what was written was not read.
func (p *pulse) read(r *os.File) {
	defer r.Close()
	var b [1]byte
	for {
		if _, err := r.Read(b[:]); err != nil {
			return // the writer has ended
		}
		p.note(time.Since(p.start) - time.Duration(p.asked.Swap(0)))
	}
}

func (p *pulse) note(late time.Duration) {
	for {
		was := p.worst.Load()
		if int64(late) <= was || p.worst.CompareAndSwap(was, int64(late)) {
			return
		}
	}
}

// take returns the worst since the last take; what was written and not read yet is
// late by now.
func (p *pulse) take() time.Duration {
	worst := time.Duration(p.worst.Swap(0))
	if asked := p.asked.Load(); asked != 0 {
		worst = max(worst, time.Since(p.start)-time.Duration(asked))
	}
	return worst
}

// ownCPU is the CPU time of this process, seconds.
func ownCPU() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0 // it can't fail for oneself
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// ownMemory is what of this process is resident, bytes; 0 where /proc does not tell.
func ownMemory() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(b)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// meter keeps Own up to date, a second at a time.
type meter struct {
	own  Own
	late time.Duration // the worst of the running second
	at   time.Time
	cpu  float64
}

// tick takes one tick's lateness, and each second the cost.
func (m *meter) tick(now time.Time, late time.Duration) {
	m.late = max(m.late, late)
	m.own.Worst = max(m.own.Worst, late)
	since := now.Sub(m.at)
	if since < time.Second {
		return
	}
	cpu := ownCPU()
	if !m.at.IsZero() {
		m.own.CPU = figures.Value{V: (cpu - m.cpu) / since.Seconds(), OK: true}
	}
	m.own.Total, m.own.Memory, m.own.Late = cpu, ownMemory(), m.late
	m.at, m.cpu, m.late = now, cpu, 0
}
