package watch

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"snag/probes/streams/figures"
	"snag/probes/streams/pace"
	"snag/probes/streams/wire"
)

// beatEvery is how often the watch looks whether it is late: with the readers, so that it is
// no wake-up of its own.
const beatEvery = 20 * time.Millisecond

// usual is how late this process may run until that is worth telling: less is how Go
// wakes anybody.
const usual = 25 * time.Millisecond

// pulse measures how late this process gets to run, as its readers do: it waits for a
// descriptor that is ready each beat, and notes by how much it was late. What a busy
// machine, a throttled cgroup or a stopped process does to the readers, it does to this;
// and where there is hardly any CPU, Go sees that a timer is due long before it sees
// that a socket can be read.
type pulse struct {
	worst atomic.Int64
	due   atomic.Int64 // the next beat, monotonic ns; 0: there is none
}

func (p *pulse) run(ctx context.Context) {
	defer p.due.Store(0)
	p.due.Store(pace.Next(wire.Monotonic(), beatEvery))
	if pace.Each(ctx, beatEvery, p.beat) != nil { // no descriptor is left
		p.due.Store(0)
		pace.Every(ctx, beatEvery, p.note)
	}
}

// beat is one; what was missed is told once, not for each.
func (p *pulse) beat(next int64) error {
	p.note(time.Duration(wire.Monotonic() - p.due.Swap(next)))
	return nil
}

func (p *pulse) note(late time.Duration) {
	for {
		was := p.worst.Load()
		if int64(late) <= was || p.worst.CompareAndSwap(was, int64(late)) {
			return
		}
	}
}

// take returns the worst since the last take; a beat that is due and did not come yet
// is late by now.
func (p *pulse) take() time.Duration {
	worst := time.Duration(p.worst.Swap(0))
	if due := p.due.Load(); due != 0 {
		worst = max(worst, time.Duration(wire.Monotonic()-due))
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
