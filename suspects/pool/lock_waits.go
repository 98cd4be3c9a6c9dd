package pool

import (
	"fmt"
	"sort"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// lockCount is what the kernel counted of the waits for one lock of one process.
type lockCount struct {
	address uint64
	seconds int // in which the process was looked at
	jams    int // of them, in which its waiters stood there for half of the time
	waiters int // most in a second
	n       uint64
	sum     float64 // s, all threads together
	max     float64 // s
	active  []recording.Interval

	// The holder, in the seconds with a jam.
	worded  int // the lock's word named it
	asleep  int // and it slept in a call
	ran     int // and it ran
	waking  int // nobody is named but who woke the waiters
	holder  recording.LockWait
	holders map[int]bool
	unlocks int    // goroutines were seen to let it go
	caller  string // the functions of the program that it was in; "" not known
}

// fewCounted seconds with a jam are enough where every wait was counted.
const fewCounted = 2

// countedConvoy finds the lock that most of those who want it wait for, half of the
// time or more; nil where there is none, or nobody counted.
func countedConvoy(p *scene.Process, r *recording.Recording) *lockCount {
	// Two probes count, each with a second of its own.
	locks, seconds := map[uint64]*lockCount{}, map[int64]bool{}
	second := func(t recording.Time) int64 { return int64(t) / int64(time.Second) }
	for _, row := range r.LockWaits {
		if row.PID != p.Subject.PID {
			continue
		}
		seconds[second(row.T)] = true
		if row.Kind != "mutex" {
			continue
		}
		l := locks[row.Address]
		if l == nil {
			l = &lockCount{address: row.Address, holders: map[int]bool{}}
			locks[row.Address] = l
		}
		l.add(row)
	}
	for i := range r.OffCPU { // large rows, and every process comes by: none is copied
		if row := &r.OffCPU[i]; row.PID == p.Subject.PID {
			seconds[second(row.T)] = true
		}
	}
	var all []*lockCount
	for _, l := range locks {
		l.seconds = len(seconds)
		if l.unlocks > 0 {
			l.seconds = unlockSeconds(r, p.Subject.PID, second)
		}
		if l.jams >= fewCounted && 2*l.jams >= l.seconds {
			all = append(all, l)
		}
	}
	if len(all) == 0 {
		return nil
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].sum != all[j].sum {
			return all[i].sum > all[j].sum
		}
		return all[i].address < all[j].address
	})
	worst := all[0]
	worst.caller = measure.OwnFunctions(r, worst.holder.OwnerStack)
	worst.active = intervals.Merge(worst.active, measure.Joined)
	return worst
}

// unlockSeconds are those in which the mutexes of a Go program were looked at: that begins
// when the program is first looked at, and a little after.
func unlockSeconds(r *recording.Recording, pid int, second func(recording.Time) int64) int {
	seconds := map[int64]bool{}
	for _, row := range r.LockWaits {
		if row.PID == pid && row.OwnerBy == recording.OwnerUnlocks {
			seconds[second(row.T)] = true
		}
	}
	return len(seconds)
}

func (l *lockCount) add(row recording.LockWait) {
	l.n += row.N
	l.sum += row.Sum
	l.max = max(l.max, row.Max)
	l.waiters = max(l.waiters, row.Waiters)
	if row.Waiters < fewWaiting || row.Sum < jamShare*float64(row.Waiters) {
		return
	}
	l.jams++
	l.active = append(l.active, measure.OneSecond(row.T))
	if row.Owner == 0 {
		return
	}
	l.holders[row.Owner] = true
	switch {
	case row.OwnerBy == recording.OwnerUnlocks:
		l.unlocks++
	case row.OwnerBy != "word":
		l.waking++
	case row.OwnerCall == "running":
		l.worded++
		l.ran++
	default:
		l.worded++
		l.asleep++
	}
	// What is told of the holder: asleep before running, with a stack before without.
	if l.holder.Owner == 0 || rank(row) >= rank(l.holder) {
		l.holder = row
	}
}

// always reports whether it was so in every whole second of the look: the first and the
// last are cut.
func (l *lockCount) always() bool {
	return l.jams >= l.seconds-1 || l.jams > fewCounted && l.jams >= l.seconds-2
}

func rank(row recording.LockWait) int {
	n := 0
	if row.OwnerBy == "word" {
		n += 2
		if row.OwnerCall != "running" {
			n += 4
		}
	}
	if row.OwnerStack != 0 {
		n++
	}
	return n
}

// mean is how long a thread waited each time, s; of waits that never ended, the longest.
func (l *lockCount) mean() float64 {
	if l.n == 0 {
		return l.max
	}
	return l.sum / float64(l.n)
}

// evidence is what was counted.
func (l *lockCount) evidence(pid int) suspect.Evidence {
	seconds, _ := measure.ShareOf(l.jams, l.seconds)
	waits := source.Ofs("futex waits of process %d at sched_switch (lock_waits)", pid)
	if l.unlocks > 0 {
		waits = source.Ofs("(*sync.Mutex).lockSlow and unlockSlow of process %d (lock_waits)", pid)
	}
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: l.sum, Unit: "s", Source: waits.With(source.LockWaits), Origin: "futex",
		Text: fmt.Sprintf("%s waited %s times for %s, %s together and %s each on average, at the longest %s; in %s seconds half of the time or more",
			units.Plural(l.waiters, l.who()), units.Count(float64(l.n)), lockAt(l.address), units.Lasting(l.sum), units.Lasting(l.mean()), units.Lasting(l.max), seconds)}
}

// lockAt names a lock by its word; a lock whose waiters park on a word each, or a semaphore, has none.
func lockAt(address uint64) string {
	if address == 0 {
		return "one lock; its word does not name the holder"
	}
	return fmt.Sprintf("the lock at 0x%x", address)
}

// who waits for the lock.
func (l *lockCount) who() string {
	if l.unlocks > 0 {
		return "goroutine"
	}
	return "thread"
}

// holderEvidence is what is known of who held it; false where nothing is.
func (l *lockCount) holderEvidence(p *scene.Process) (suspect.Evidence, bool) {
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Unit: "share", Origin: "lock word", Source: source.LocksOf.As("the lock's word (process_vm_readv), sched_switch of its holder (lock_waits)")}
	k := l.socket(p)
	switch {
	case measure.WaitsForWork[l.holder.OwnerCall], k != nil && k.Listening():
		e.Side, e.Grade, e.Value, e.Origin = suspect.Against, suspect.Decisive, 1, "what the holder waits for"
		e.Text = fmt.Sprintf("who has the lock waits for the next request, and the others for their turn to: %s", l.doing(p))
	case l.worded > 0 && l.asleep >= l.ran:
		seconds, share := measure.ShareOf(l.asleep, l.jams)
		if 2*l.asleep >= l.jams {
			e.Grade = suspect.Decisive
		}
		e.Value = share
		e.Text = fmt.Sprintf("the lock's own word names its holder, who was asleep meanwhile in %s of those seconds: %s", seconds, l.doing(p))
	case l.worded > 0:
		seconds, share := measure.ShareOf(l.ran, l.jams)
		e.Value = share
		e.Text = fmt.Sprintf("the lock's own word names its holder, who was on a CPU in %s of those seconds: %s: the section under the lock is long", seconds, l.doing(p))
	case l.unlocks > 0:
		seconds, share := measure.ShareOf(l.unlocks, l.jams)
		e.Value, e.Source, e.Origin = share, source.LocksOf.As("(*sync.Mutex).unlockSlow (lock_waits)"), "who lets go"
		e.Text = fmt.Sprintf("in %s of those seconds who let it go was seen: %s", seconds, l.doing(p))
	case l.waking > 0 && l.address == 0:
		seconds, share := measure.ShareOf(l.waking, l.jams)
		e.Value, e.Source, e.Origin = share, source.LocksOf.As("sched_waking of the waiters (lock_waits)"), "who wakes"
		e.Text = fmt.Sprintf("in %s of those seconds each waiter was woken by the one that had waited before it, and one at a time had it: %s", seconds, l.doing(p))
	case l.waking > 0:
		seconds, share := measure.ShareOf(l.waking, l.jams)
		e.Value, e.Source, e.Origin = share, source.LocksOf.As("sched_waking of the waiters (lock_waits)"), "who wakes"
		e.Text = fmt.Sprintf("the lock's word names no holder; in %s of those seconds the waiters were woken by %s", seconds, l.doing(p))
	default:
		return suspect.Evidence{}, false
	}
	return e, true
}

// doing says who held the lock, in which function, and what it sat in.
func (l *lockCount) doing(p *scene.Process) string {
	h := l.holder
	text := fmt.Sprintf("thread %d", h.Owner)
	switch {
	case l.unlocks > 0:
		text = "goroutines in turn"
	case len(l.holders) > 1:
		text = fmt.Sprintf("%d threads in turn, as thread %d", len(l.holders), h.Owner)
	}
	if l.caller != "" {
		text += " in " + l.caller
	}
	switch h.OwnerCall {
	case "":
	case "none":
		text += ", asleep outside of any call (a page fault)"
	case "running":
		text += ", running"
	default:
		text += ", in the call " + h.OwnerCall
	}
	if k := l.socket(p); k != nil {
		text += fmt.Sprintf(" on descriptor %d (%s %s", *h.OwnerFD, k.First().Proto, k.First().Local)
		if remote := k.First().Remote; remote != "" {
			text += " → " + remote
		}
		text += ")"
	} else if h.OwnerFD != nil && *h.OwnerFD >= 0 {
		text += fmt.Sprintf(" on descriptor %d", *h.OwnerFD)
	}
	return text
}

// socket is what the holder waited on, where that is one.
func (l *lockCount) socket(p *scene.Process) *scene.Socket {
	if l.holder.OwnerFD == nil {
		return nil
	}
	return measure.SocketOn(p, *l.holder.OwnerFD)
}
