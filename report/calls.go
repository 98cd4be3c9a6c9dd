package report

import (
	"cmp"
	"maps"
	"strings"

	"snag/internal/sorting"
	"snag/recording"
)

// Calls is what a recording holds of system calls, summed over its window
// (snag syscalls; docs/syscalls.md has the JSON).
type Calls struct {
	Host    string           `json:"host"`
	Kernel  string           `json:"kernel"`
	Start   recording.Time   `json:"start"`   // of the counting
	Seconds float64          `json:"seconds"` // that it lasted
	Target  recording.Target `json:"target"`
	// Processes made calls; the busiest first.
	Processes []CallsProcess       `json:"processes"`
	Calls     []CallTotal          `json:"calls"`
	FDs       []FDTotal            `json:"fds"`
	Blocked   []BlockedThread      `json:"blocked"` // in a call at the end
	Cost      CallsCost            `json:"cost"`
	Coverage  []recording.Coverage `json:"coverage"`
}

// CallsProcess is one process and how many calls it made.
type CallsProcess struct {
	PID  int    `json:"pid"`
	Comm string `json:"comm"`
	N    uint64 `json:"n"`
}

// CallTotal sums one system call.
type CallTotal struct {
	Call    string            `json:"call"`
	N       uint64            `json:"n"`
	Failed  uint64            `json:"failed"`
	Errors  map[string]uint64 `json:"errors,omitempty"`
	Seconds float64           `json:"seconds"` // in the call, waiting included
	Max     float64           `json:"max_seconds"`
	MaxAt   recording.Time    `json:"max_at,omitempty"`
	Hist    []uint64          `json:"hist,omitempty"` // recording.CallBound
}

// FDTotal sums the calls on one descriptor.
type FDTotal struct {
	PID     int            `json:"pid"`
	FD      int            `json:"fd"`
	What    *recording.FD  `json:"what,omitempty"` // as it was last told of; nil: not known
	Times   int            `json:"times"`          // how many different things it was, one after the other
	Reads   uint64         `json:"reads"`
	Writes  uint64         `json:"writes"`
	In      uint64         `json:"in_bytes"`
	Out     uint64         `json:"out_bytes"`
	Again   uint64         `json:"eagain"`
	Calls   uint64         `json:"calls"` // of every kind
	Seconds float64        `json:"seconds"`
	Working float64        `json:"working_seconds"` // without those that wait for anything at all: epoll_wait, accept
	Max     float64        `json:"max_seconds"`
	MaxAt   recording.Time `json:"max_at,omitempty"`
	MaxCall string         `json:"max_call"`
}

// CallsCost is what the trace took, seconds of CPU.
type CallsCost struct {
	Kernel *float64 `json:"kernel_seconds,omitempty"` // in the BPF programs; nil: not measured
	Snag   float64  `json:"snag_seconds"`
}

// The calls that read and that write, as far as they move bytes.
var (
	readCalls  = set("read", "pread64", "readv", "preadv", "preadv2", "recvfrom", "recv", "recvmsg", "recvmmsg")
	writeCalls = set("write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "send", "sendmsg", "sendmmsg", "sendfile", "splice", "vmsplice", "tee", "copy_file_range")
	idleCalls  = set("epoll_wait", "epoll_pwait", "epoll_pwait2", "accept", "accept4")
	// Those of io_uring that no call is named as.
	readOperations  = set("read_fixed", "readv_fixed", "read_multishot", "recv_zc")
	writeOperations = set("write_fixed", "writev_fixed", "send_zc", "sendmsg_zc")
	idleOperations  = set("poll_add")
)

func set(names ...string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[n] = true
	}
	return m
}

// SumCalls sums a recording's calls.
func SumCalls(r *recording.Recording) *Calls {
	c := &Calls{
		Host: r.Manifest.Host, Kernel: r.Manifest.Kernel, Start: r.Manifest.Start, Seconds: r.Length().Seconds(), Target: r.Manifest.Target,
		Calls: []CallTotal{}, FDs: []FDTotal{}, Blocked: []BlockedThread{}, Processes: []CallsProcess{}, Coverage: []recording.Coverage{},
	}
	// To load the programs takes a part of the window.
	if row, ok := r.Measured("syscalls.calls"); ok && row.Since > c.Start && row.Since < r.Manifest.End {
		c.Start, c.Seconds = row.Since, max(countedUntil(r).Sub(row.Since), 1e6).Seconds()
	}
	calls, fds, processes := map[string]*CallTotal{}, map[fdOf]*FDTotal{}, map[int]*CallsProcess{}
	for i := range r.Calls {
		row := &r.Calls[i]
		at(calls, row.Call).add(row)
		p := at(processes, row.PID)
		p.PID, p.Comm, p.N = row.PID, row.Comm, p.N+row.N
		if row.FD >= 0 {
			at(fds, fdOf{row.PID, row.FD}).add(row)
		}
	}
	for name, t := range calls {
		t.Call = name
		c.Calls = append(c.Calls, *t)
	}
	sorting.By(c.Calls, func(a, b CallTotal) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(b.N, a.N), cmp.Compare(a.Call, b.Call))
	})
	for _, p := range processes {
		c.Processes = append(c.Processes, *p)
	}
	sorting.By(c.Processes, func(a, b CallsProcess) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.PID, b.PID)) })
	c.FDs = describe(fds, r.FDs)
	c.Blocked = BlockedIn(r)
	c.Cost = costOf(r)
	for _, row := range r.Coverage {
		if strings.HasPrefix(row.Probe, "syscalls") {
			c.Coverage = append(c.Coverage, row)
		}
	}
	return c
}

// countedUntil is when the probe looked last: what comes after is its own end.
func countedUntil(r *recording.Recording) recording.Time {
	for _, s := range r.Select("snag_probe_late_seconds", "probe", "syscalls") {
		if n := len(s.Points); n > 0 {
			return min(s.Points[n-1].T, r.Manifest.End)
		}
	}
	return r.Manifest.End
}

type fdOf struct{ pid, fd int }

// at is the value of a key, made when there is none.
func at[K comparable, V any](m map[K]*V, k K) *V {
	v := m[k]
	if v == nil {
		v = new(V)
		m[k] = v
	}
	return v
}

func (t *CallTotal) add(row *recording.Call) {
	t.N += row.N
	t.Seconds += row.Sum
	if row.Max > t.Max {
		t.Max, t.MaxAt = row.Max, row.MaxAt
	}
	for name, n := range row.Errors {
		if t.Errors == nil {
			t.Errors = map[string]uint64{}
		}
		t.Errors[name] += n
		t.Failed += n
	}
	for i, n := range row.Hist {
		if i == len(t.Hist) {
			t.Hist = append(t.Hist, 0)
		}
		t.Hist[i] += n
	}
}

func (t *FDTotal) add(row *recording.Call) {
	t.PID, t.FD = row.PID, row.FD
	name, async := strings.CutPrefix(strings.TrimSuffix(row.Call, "/32"), recording.UringPrefix)
	done := uint64(0)
	if row.Done != nil {
		done = *row.Done
	}
	switch {
	case readCalls[name], async && readOperations[name]:
		t.Reads, t.In = t.Reads+row.N, t.In+done
	case writeCalls[name], async && writeOperations[name]:
		t.Writes, t.Out = t.Writes+row.N, t.Out+done
	}
	t.Calls += row.N
	t.Again += row.Errors["EAGAIN"]
	t.Seconds += row.Sum
	if !idleCalls[name] && (!async || !idleOperations[name]) {
		t.Working += row.Sum
	}
	if row.Max > t.Max {
		t.Max, t.MaxAt, t.MaxCall = row.Max, row.MaxAt, row.Call
	}
}

// describe puts to each descriptor what it was, those with most time in calls that
// do something first.
func describe(fds map[fdOf]*FDTotal, rows []recording.FD) []FDTotal {
	inodes := map[fdOf]map[uint64]bool{}
	for i := range rows {
		key := fdOf{rows[i].PID, rows[i].FD}
		t := fds[key]
		if t == nil {
			continue
		}
		if t.What == nil || rows[i].T >= t.What.T {
			t.What = &rows[i]
		}
		if inodes[key] == nil {
			inodes[key] = map[uint64]bool{}
		}
		inodes[key][rows[i].Inode] = true
		t.Times = len(inodes[key])
	}
	out := []FDTotal{}
	for _, key := range sorting.Collect(maps.Keys(fds), func(a, b fdOf) int {
		return cmp.Or(cmp.Compare(fds[b].Working, fds[a].Working), cmp.Compare(fds[b].Seconds, fds[a].Seconds), cmp.Compare(a.pid, b.pid), cmp.Compare(a.fd, b.fd))
	}) {
		out = append(out, *fds[key])
	}
	return out
}

func costOf(r *recording.Recording) (c CallsCost) {
	for _, s := range r.Select("snag_probe_bpf_seconds_total", "probe", "syscalls") {
		if n := len(s.Points); n > 0 {
			v := s.Points[n-1].V
			c.Kernel = &v
		}
	}
	if row, ok := r.Measured("syscalls.calls"); ok {
		c.Snag = row.Cost
	}
	return c
}
