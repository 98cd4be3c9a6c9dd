package page

import (
	"fmt"
	"sort"
	"strings"

	"snag/recording"
)

// locks has a row for each lock that was waited for: who waits, on what, for whom.
func (b *builder) locks() Table {
	t := Table{Name: "locks", Title: "Locks", Note: "who waited, for which lock, and who held it meanwhile", Columns: []Column{
		{"process", "text"}, {"lock", "text"}, {"kind", "text"}, {"waiters, most", "count"}, {"waits", "count"}, {"waited", "seconds"}, {"longest", "seconds"},
		{"first", "clock"}, {"last", "clock"}, {"waits in", "text"}, {"held by", "text"}, {"known by", "text"}, {"holder was in", "text"}, {"holder's stack", "lines"},
	}}
	type key struct {
		pid     int
		address uint64
	}
	stacks := map[int]recording.Stack{}
	for _, s := range b.r.Stacks {
		stacks[s.ID] = s
	}
	what := b.descriptors()
	sums, last := map[key]*recording.LockWait{}, map[key]recording.Time{}
	var order []key
	for _, row := range b.r.LockWaits {
		k := key{row.PID, row.Address}
		last[k] = max(last[k], row.T)
		s := sums[k]
		if s == nil {
			first := row
			sums[k] = &first
			order = append(order, k)
			continue
		}
		s.Waiters, s.N, s.Sum, s.Max = max(s.Waiters, row.Waiters), s.N+row.N, s.Sum+row.Sum, max(s.Max, row.Max)
		if row.Stack != 0 {
			s.Stack = row.Stack
		}
		if row.Owner != 0 {
			s.Owner, s.OwnerBy, s.OwnerComm, s.OwnerStack, s.OwnerCall, s.OwnerFD = row.Owner, row.OwnerBy, row.OwnerComm, row.OwnerStack, row.OwnerCall, row.OwnerFD
		}
	}
	sort.SliceStable(order, func(i, j int) bool { return sums[order[i]].Sum > sums[order[j]].Sum })
	for _, k := range order {
		s := sums[k]
		var held, in string
		if s.Owner != 0 {
			held = fmt.Sprintf("thread %d %s", s.Owner, s.OwnerComm)
			if s.OwnerBy == recording.OwnerUnlocks {
				held = "a goroutine, on " + held
			}
		}
		if s.OwnerCall != "" {
			in = s.OwnerCall
			if s.OwnerFD != nil {
				in += strings.TrimRight(fmt.Sprintf(" on descriptor %d %s", *s.OwnerFD, what[[2]int{s.PID, *s.OwnerFD}]), " ")
			}
		}
		t.Rows = append(t.Rows, []any{b.processOf(s.PID, s.Comm), lockName(s.Address), s.Kind, s.Waiters, s.N, round(s.Sum), round(s.Max),
			b.since(s.T), b.since(last[k]), named(stacks[s.Stack]), held, s.OwnerBy, in, orNoLines(stacks[s.OwnerStack].Frames)})
	}
	return t
}

// processOf is the process' own name; a row of a thread has the thread's.
func (b *builder) processOf(pid int, comm string) string {
	if p := b.s.Process(pid); p != nil {
		comm = p.Last().Comm
	}
	return process(pid, comm)
}

// lockName is a lock's address; 0 stands for one whose waiters park on a word each.
func lockName(address uint64) string {
	if address == 0 {
		return "a word each"
	}
	return fmt.Sprintf("%#x", address)
}

// named is the function of the process' own that a stack is in: the first below
// the kernel and the libraries that only wait for it.
func named(s recording.Stack) string {
	for i, f := range s.Frames {
		if s.Kernel < 0 || i < s.Kernel {
			continue
		}
		object := ""
		if i < len(s.Objects) {
			object = s.Objects[i]
		}
		if !strings.Contains(object, "libc.so") && !strings.Contains(object, "libpthread") && !strings.HasPrefix(f, "runtime.") {
			return f
		}
	}
	return ""
}

func orNoLines(lines []string) any {
	if len(lines) == 0 {
		return nil
	}
	return strings.Join(lines, "\n")
}

// calls sums up the system calls of the processes that were looked at closer.
func (b *builder) calls() Table {
	t := Table{Name: "calls", Title: "System calls", Note: "of the processes that were looked at closer, by call and descriptor; waiting is in the time", Columns: []Column{
		{"process", "text"}, {"call", "text"}, {"descriptor", "text"}, {"calls", "count"}, {"errors", "count"}, {"asked", "bytes"}, {"done", "bytes"},
		{"time inside", "seconds"}, {"longest", "seconds"}, {"when", "clock"},
	}}
	type key struct {
		pid  int
		call string
		fd   int
	}
	what := b.descriptors()
	sums := map[key]*recording.Call{}
	errors := map[key]uint64{}
	var order []key
	for _, row := range b.r.Calls {
		k := key{row.PID, row.Call, row.FD}
		for _, n := range row.Errors {
			errors[k] += n
		}
		s := sums[k]
		if s == nil {
			first := row
			sums[k] = &first
			order = append(order, k)
			continue
		}
		s.N, s.Sum = s.N+row.N, s.Sum+row.Sum
		s.Asked, s.Done = plus(s.Asked, row.Asked), plus(s.Done, row.Done)
		if row.Max > s.Max {
			s.Max, s.MaxAt = row.Max, row.MaxAt
		}
	}
	sort.SliceStable(order, func(i, j int) bool { return sums[order[i]].Sum > sums[order[j]].Sum })
	for _, k := range order {
		s := sums[k]
		fd := ""
		if k.fd >= 0 {
			fd = strings.TrimSpace(fmt.Sprintf("%d %s", k.fd, what[[2]int{k.pid, k.fd}]))
		}
		var when any
		if s.MaxAt != 0 {
			when = b.since(s.MaxAt)
		}
		t.Rows = append(t.Rows, []any{b.processOf(s.PID, s.Comm), s.Call, fd, s.N, errors[k], orNil(s.Asked), orNil(s.Done), round(s.Sum), round(s.Max), when})
	}
	return t
}

// descriptors are what the descriptors of processes were, as last told.
func (b *builder) descriptors() map[[2]int]string {
	out := map[[2]int]string{}
	for _, f := range b.r.FDs {
		out[[2]int{f.PID, f.FD}] = fdName(f)
	}
	return out
}

func plus(a, b *uint64) *uint64 {
	if a == nil || b == nil {
		return a
	}
	sum := *a + *b
	return &sum
}

func orNil(n *uint64) any {
	if n == nil {
		return nil
	}
	return *n
}

// fdName says what a descriptor is: a socket by its two ends, else its name.
func fdName(f recording.FD) string {
	if f.Local == "" {
		return f.Name
	}
	name := f.Proto + " " + f.Local
	if f.Remote != "" {
		name += " → " + f.Remote
	}
	if f.PeerComm != "" {
		name += fmt.Sprintf(" (%s[%d])", f.PeerComm, f.PeerPID)
	}
	if f.Carries != "" {
		name += ", " + f.Carries
	}
	return name
}
