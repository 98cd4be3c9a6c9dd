package watch

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// beat is how often the ticking goroutine looks at the clock: a reader that is
// woken by a packet waits for a CPU as it does.
const beat = 25 * time.Millisecond

// pulse measures how late this process gets to run: a goroutine that wants to wake
// every beat notes by how much it was late. What a busy machine, a throttled
// cgroup or a stopped process does to the readers, it does to it.
type pulse struct{ worst atomic.Int64 }

func (p *pulse) run(ctx context.Context) {
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
		next = now.Add(beat) // what was missed is told once, not for each beat
		t.Reset(beat)
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

// take returns the worst since the last take.
func (p *pulse) take() time.Duration { return time.Duration(p.worst.Swap(0)) }

// queued measures how long threads of this process waited for a CPU: the second
// number of /proc/PID/task/TID/schedstat (Documentation/scheduler/sched-stats.rst,
// kernels with CONFIG_SCHED_INFO), ns. What gets a CPU for milliseconds now and then
// is late by more than its timers show.
type queued struct {
	tasks string // /proc/self/task
	last  map[string]int64
	buf   [64]byte
}

// take returns the most that any thread waited since the last take; 0 where the
// kernel does not tell.
func (q *queued) take() time.Duration {
	dir, err := os.Open(q.tasks)
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, err := dir.Readdirnames(maxThreads)
	if err != nil {
		return 0
	}
	now := make(map[string]int64, len(names))
	most := int64(0)
	for _, name := range names {
		waited, ok := q.read(q.tasks + "/" + name + "/schedstat")
		if !ok {
			continue // it ended meanwhile
		}
		now[name] = waited
		if was, known := q.last[name]; known {
			most = max(most, waited-was)
		}
	}
	q.last = now
	return time.Duration(most)
}

// maxThreads that are looked at: Go makes one a CPU, and one for each call that blocks.
const maxThreads = 64

func (q *queued) read(path string) (int64, bool) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	n, _ := f.Read(q.buf[:]) // nothing is no number
	fields := bytes.Fields(q.buf[:n])
	if len(fields) < 2 {
		return 0, false
	}
	v, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return v, err == nil
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
		m.own.CPU = (cpu - m.cpu) / since.Seconds()
	}
	m.own.Total, m.own.Memory, m.own.Late = cpu, ownMemory(), m.late
	m.at, m.cpu, m.late = now, cpu, 0
}
