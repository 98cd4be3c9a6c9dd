package syscalls

import (
	"io"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// What the programs run is measured for one part of the time: the kernel reads the
// clock twice a run while it measures (kernel/bpf, bpf_prog_start_time), which
// costs about as much as a program.
const (
	measured = 100 * time.Millisecond
	measures = 2 * time.Second // from one measurement to the next
)

// slowWay is what a run costs the call beside the program: every system call of the
// machine leaves and comes back by way of its work flags while a tracepoint of them is
// attached (kernel/entry/common.c). A getppid of a process that is not looked at takes
// 0.18 µs more with two runs, of which the kernel measures 0.08 (docs/bench.md).
const slowWay = 50 * time.Nanosecond

// runtimes measures what share of a CPU the programs take.
type runtimes struct {
	enable   func() (io.Closer, error) // ebpf.EnableStats
	read     func() (time.Duration, error)
	stats    io.Closer
	began    time.Time
	at       time.Duration
	last     time.Time
	share    float64 // of a CPU, as last measured
	seconds  float64 // of CPU, so far
	refused  error   // why it can't be measured
	everSeen bool
}

func newRuntimes(programs ...*ebpf.Program) *runtimes {
	return &runtimes{
		enable: func() (io.Closer, error) { return ebpf.EnableStats(unix.BPF_STATS_RUN_TIME) },
		read: func() (sum time.Duration, err error) {
			for _, p := range programs {
				s, err := p.Stats()
				if err != nil {
					return 0, err
				}
				sum += s.Runtime + time.Duration(s.RunCount)*slowWay
			}
			return sum, nil
		},
	}
}

// begin starts to measure, when it is time to; end must follow.
func (r *runtimes) begin(now time.Time) bool {
	if r.refused != nil || r.stats != nil || r.everSeen && now.Sub(r.began) < measures {
		return false
	}
	if r.stats, r.refused = r.enable(); r.refused != nil {
		return false
	}
	r.began = now
	r.at, r.refused = r.read()
	return true
}

// end takes the measurement.
func (r *runtimes) end(now time.Time) {
	if r.stats == nil {
		return
	}
	at, err := r.read()
	_ = r.stats.Close() // a descriptor that nothing is written to
	r.stats = nil
	if span := now.Sub(r.began); err == nil && span > 0 {
		r.share, r.everSeen = float64(at-r.at)/float64(span), true
	}
}

// charge is the CPU time since the last charge, seconds: as long as the programs
// were attached, at the share that was last measured.
func (r *runtimes) charge(now time.Time, attached bool) float64 {
	span := now.Sub(r.last)
	first := r.last.IsZero()
	r.last = now
	if first || !attached {
		return 0
	}
	s := r.share * span.Seconds()
	r.seconds += s
	return s
}
