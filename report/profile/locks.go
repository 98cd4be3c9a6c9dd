package profile

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"snag/internal/shown"
	"snag/recording"
)

// lock is what was waited for one lock of one process in the whole recording.
type lock struct {
	recording.LockWait
	ownerSum float64 // the waiting in the second that the owner is told of, s
}

// leastWaited on a lock that is worth a line, s.
const leastWaited = 0.01

// locksOf are the locks that threads or goroutines queued for, most of them; of pid 0,
// of all processes. Conditions are none: nobody holds those.
func locksOf(r *recording.Recording, pid, most int) []*lock {
	type key struct {
		pid     int
		address uint64
	}
	sums := map[key]*lock{}
	var out []*lock
	for _, row := range r.LockWaits {
		if row.Kind != "mutex" || pid != 0 && row.PID != pid {
			continue
		}
		k := key{row.PID, row.Address}
		l := sums[k]
		if l == nil {
			l = &lock{LockWait: recording.LockWait{PID: row.PID, Comm: row.Comm, Address: row.Address}}
			sums[k] = l
			out = append(out, l)
		}
		l.Waiters, l.N, l.Sum = max(l.Waiters, row.Waiters), l.N+row.N, l.Sum+row.Sum
		if row.Max >= l.Max {
			l.Max, l.Stack = row.Max, row.Stack
		}
		if row.Owner != 0 && row.Sum >= l.ownerSum {
			l.ownerSum = row.Sum
			l.Owner, l.OwnerBy, l.OwnerStack, l.OwnerCall, l.OwnerFD = row.Owner, row.OwnerBy, row.OwnerStack, row.OwnerCall, row.OwnerFD
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Sum > out[j].Sum })
	for i, l := range out {
		if l.Sum < leastWaited || i >= most {
			return out[:i]
		}
	}
	return out
}

// mostLocks are printed.
const mostLocks = 8

// WriteLocks writes who queued for which lock, and what those who held it did, and how
// long a Go program's world stood still; nothing where nobody did.
func WriteLocks(w io.Writer, r *recording.Recording, pid int, o TextOptions) error {
	var b strings.Builder
	names := map[int]recording.Stack{}
	for _, s := range r.Stacks {
		names[s.ID] = s
	}
	for i, l := range locksOf(r, pid, mostLocks) {
		if i == 0 {
			b.WriteString("\nlocks that were queued for\n")
		}
		o.paragraph(&b, clean(l.text(names)))
	}
	o.stops(&b, r, pid)
	if _, err := io.WriteString(shown.To(w), b.String()); err != nil {
		return fmt.Errorf("write the locks: %w", err)
	}
	return nil
}

func (l *lock) text(stacks map[int]recording.Stack) string {
	who := "threads"
	if l.OwnerBy == recording.OwnerUnlocks {
		who = "goroutines"
	}
	at := "one lock; its word does not name the holder"
	if l.Address != 0 {
		at = fmt.Sprintf("the lock at %#x", l.Address)
	}
	text := fmt.Sprintf("%.3f s in %s[%d]: up to %d %s for %s, %d times, %.3f s at the longest", l.Sum, l.Comm, l.PID, l.Waiters, who, at, l.N, l.Max)
	if in := ownOf(stacks[l.Stack]); in != "" {
		text += ", in " + in
	}
	if l.Owner == 0 {
		return text + "; who held it is not known"
	}
	text += "; held"
	if in := ownOf(stacks[l.OwnerStack]); in != "" {
		text += " in " + in
	}
	if l.OwnerBy == recording.OwnerUnlocks {
		text += fmt.Sprintf(" by goroutines, at last on thread %d", l.Owner)
	} else {
		text += fmt.Sprintf(" by thread %d", l.Owner)
	}
	switch {
	case l.OwnerFD != nil:
		text += fmt.Sprintf(", which sat in %s on descriptor %d", l.OwnerCall, *l.OwnerFD)
	case l.OwnerCall == "running":
		text += ", which ran"
	case l.OwnerCall != "" && l.OwnerCall != "none":
		text += ", which sat in " + l.OwnerCall
	}
	return text
}

// ownOf is the innermost function of a stack that is neither the kernel's nor of what
// only waits for a program.
func ownOf(s recording.Stack) string {
	for i, f := range s.Frames {
		object := ""
		if i < len(s.Objects) {
			object = s.Objects[i]
		}
		if s.Kernel < 0 || i < s.Kernel || strings.Contains(f, "+0x") || ofLibrary(f, object) {
			continue
		}
		return f
	}
	return ""
}

func ofLibrary(function, object string) bool {
	for _, part := range []string{"libc.so", "libpthread", "libjvm.so", "libnio.so", "libnet.so", "libstdc++", "ld-"} {
		if strings.Contains(object, part) {
			return true
		}
	}
	beginnings := []string{"runtime.", "internal/", "sync.", "net.(*", "io.", "syscall."}
	if object == "[jit]" {
		beginnings = []string{"java.", "jdk.", "sun.", "Interpreter", "StubRoutines"}
	}
	for _, beginning := range beginnings {
		if strings.HasPrefix(function, beginning) {
			return true
		}
	}
	return false
}

// stops reports how long the worlds of Go programs stood still.
func (o TextOptions) stops(b *strings.Builder, r *recording.Recording, pid int) {
	n, sum := 0, 0.0
	var longest recording.Event
	for _, e := range r.Events {
		if e.Kind != recording.EventSafepoint || e.Attrs["runtime"] != "Go" || pid != 0 && e.Subject.PID != pid {
			continue
		}
		n++
		sum += e.Value
		if e.Value >= longest.Value {
			longest = e
		}
	}
	if n == 0 {
		return
	}
	text := fmt.Sprintf("stops of Go's world: %d, %.3f ms in all, %.3f ms at the longest (%s", n, 1e3*sum, 1e3*longest.Value, longest.Attrs["operation"])
	if by := longest.Attrs["asked_by"]; by != "" {
		text += ", asked for by " + by
	}
	b.WriteString("\n")
	o.paragraph(b, clean(text+")"))
}
