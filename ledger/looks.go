package ledger

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"snag/internal/calls"
	"snag/recording"
	"snag/scene"
)

// doing is what the threads of a process were found in within a second: how many of them
// at a moment, on average.
type doing struct {
	looks uint64
	last  recording.Time // that some of them were booked at
	// busy is by account and place; idle threads wait for anything, or for the next
	// request.
	busy map[place]float64
	// loops are the threads that wait for events of many descriptors when they have
	// nothing to do: they can't be told from those whose request waits for an event.
	loops, idle float64
	// spare are, for each place, the idle threads that wait for a pool's work and were found
	// there at other times: who is in it has them to take the next request.
	spare map[place]float64
}

// place is what a busy thread is in.
type place struct {
	account Account
	where   string
}

// fewSeen: fewer looks that found a thread in a place are chance.
const fewSeen = 3

func newDoing() *doing { return &doing{busy: map[place]float64{}, spare: map[place]float64{}} }

// taken is the part of the time in which none of those who are found in a place was free, if
// each is by itself: all of it where nobody who goes there was ever seen to wait for work.
func (d *doing) taken(p place) float64 {
	busy, spare := d.busy[p], d.spare[p]
	if spare < busy || p.account == Work || p.account == CPU { // one of those may be who reads
		return 1
	}
	n := busy + spare
	return math.Pow(busy/n, max(1, math.Round(n)))
}

// free is how many threads of one pool, the largest, waited for its work at a moment.
func (d *doing) free() (most float64) {
	if d == nil {
		return 0
	}
	for p, n := range d.spare {
		if p.account != Work && p.account != CPU {
			most = max(most, n)
		}
	}
	return most
}

// at is how many threads were in an account at a moment, wherever.
func (d *doing) at(a Account) (n float64) {
	for p, v := range d.busy {
		if p.account == a {
			n += v
		}
	}
	return n
}

// work is how many threads were busy at a moment.
func (d *doing) work() (n float64) {
	for _, v := range d.busy {
		n += v
	}
	return n
}

// looks are the seconds of each process.
type looks map[int]map[int]*doing

// looksOf sorts what the threads were found in. Threads that were never found busy in the
// whole window work for nobody: they are a runtime's own, or a pool's that nobody needs.
func looksOf(s *scene.Scene, r *recording.Recording) looks {
	ran, ready, alike := schedule(r)
	elsewhere, still := servesNobody(s, r), neverLeft(r)
	sorted := make([]place, len(r.ThreadStates))
	busy, been := map[[2]int]bool{}, map[[2]int]map[place]uint64{}
	sleeps, locks, asked := SleepWords(r), lockWords(r), loadedSockets(s, r)
	for i, row := range r.ThreadStates {
		sorted[i] = placeOf(s, row)
		if word := (Word{row.PID, row.Futex}); row.State == "S" && !row.Lock && sleeps[word] {
			sorted[i] = place{account: Sleep}
		} else if row.State == "S" && locks[word] {
			sorted[i] = place{account: Lock, where: fmt.Sprintf("%#x", row.Futex)}
		} else if sorted[i].account == Call && asked[inode{row.PID, row.Inode}] {
			sorted[i] = place{} // the next request
		}
		if sorted[i].account != "" && !still[i] && !elsewhere[[2]int{row.PID, row.TID}] {
			t := [2]int{row.PID, row.TID}
			busy[t] = true
			if been[t] == nil {
				been[t] = map[place]uint64{}
			}
			been[t][sorted[i]] += row.N
		}
	}
	out := looks{}
	loop := eventLoops(r, ran)
	for _, row := range r.ThreadStates { // the probe's second ends early when one more process is watched
		if d := out.at(row.PID, number(s.Window, row.T)); row.T != d.last {
			d.last = row.T
			d.looks += row.Looks
		}
	}
	for i, row := range r.ThreadStates {
		if row.Looks == 0 || still[i] {
			continue
		}
		d := out.at(row.PID, number(s.Window, row.T))
		if !busy[[2]int{row.PID, row.TID}] || sorted[i].account == "" && loop[row.PID] != 0 && loop[row.PID] != row.TID {
			continue
		}
		threads := float64(row.N) / float64(d.looks)
		switch p := sorted[i]; {
		case p.account == "" && calls.Of(row.Call)&calls.Polls != 0:
			d.loops += threads
		case p.account == "":
			d.idle += threads
			if calls.Of(row.Call)&(calls.Locks|calls.Accepts) != 0 {
				for at, n := range been[[2]int{row.PID, row.TID}] {
					if n >= fewSeen {
						d.spare[at] += threads
					}
				}
			}
		case p.account == Work:
			// A look takes a CPU itself: whether a thread ran or was only ready is told by
			// the scheduler's own clocks.
			share := 1.0
			if t := [2]int{row.PID, row.TID}; ran[t]+ready[t] > 0 {
				share = ran[t] / (ran[t] + ready[t])
			} else if c := alike[row.Comm]; c.ran+c.ready > 0 { // one of a family that forks
				share = c.ran / (c.ran + c.ready)
			}
			d.busy[p] += threads * share
			if share < 1 {
				d.busy[place{account: CPU}] += threads * (1 - share)
			}
		default:
			d.busy[p] += threads
		}
	}
	out.correct(s, r)
	out.fill()
	return out
}

// fill has a second in which no second of the probe's begins tell what the one before it found: it
// covers that. The probe's are longer than a second, by what a look takes.
func (l looks) fill() {
	for _, seconds := range l {
		for _, at := range slices.Sorted(maps.Keys(seconds)) {
			if next := seconds[at+2]; seconds[at+1] == nil && next != nil && next.last.Sub(seconds[at].last) < covers {
				seconds[at+1] = seconds[at]
			}
		}
	}
}

// covers is more than a second of the probe's lasts.
const covers = 1500 * time.Millisecond

// eventLoops are the threads, by process, that do nearly all the work of it and wait for events of
// many descriptors when they have none: others take no request from them, idle or not, be it a
// runtime's compiler and collector.
func eventLoops(r *recording.Recording, ran map[[2]int]float64) map[int]int {
	out := map[int]int{}
	for _, row := range r.ThreadStates {
		if t := [2]int{row.PID, row.TID}; calls.Of(row.Call)&calls.Polls != 0 && ran[t] >= ranAlone && ran[t] >= nearlyAll*ran[[2]int{row.PID, 0}] {
			out[row.PID] = row.TID
		}
	}
	return out
}

// SleepingLoop is the thread of a process that does nearly all its work, waits for events when it has
// none, and was found asleep for a time in the middle of it, and in which call: while it sleeps nobody
// takes a request. False where there is none, or other threads sleep too.
func SleepingLoop(r *recording.Recording, pid int) (tid int, call string, ok bool) {
	ran, _, _ := schedule(r)
	if tid = eventLoops(r, ran)[pid]; tid == 0 {
		return 0, "", false
	}
	for _, row := range r.ThreadStates {
		if row.PID != pid || row.State != "S" || calls.Of(row.Call)&calls.Sleeps == 0 {
			continue
		}
		if row.TID != tid {
			return 0, "", false
		}
		call = row.Call
	}
	return tid, call, call != ""
}

// nearlyAll of its process' CPU time, of ranAlone seconds at the least, is an event loop's.
const nearlyAll, ranAlone = 0.9, 0.1

func (l looks) at(pid, second int) *doing {
	if l[pid] == nil {
		l[pid] = map[int]*doing{}
	}
	if l[pid][second] == nil {
		l[pid][second] = newDoing()
	}
	return l[pid][second]
}

// servesNobody are the threads that wait longer at a time than any request of their process
// lasts, on average: who waits for a pipe, a child or a clock from one second to the next is
// in no request that was answered meanwhile.
func servesNobody(s *scene.Scene, r *recording.Recording) map[[2]int]bool {
	answers, longest := answered(r)
	out := map[[2]int]bool{}
	for _, p := range s.Processes {
		most := uint64(0) // times that one of its threads waited: that one serves, whoever does
		for _, t := range p.Threads {
			most = max(most, t.Rows[len(t.Rows)-1].Voluntary-t.Rows[0].Voluntary)
		}
		for _, t := range p.Threads {
			a, z := t.Rows[0], t.Rows[len(t.Rows)-1]
			if !answers[p.Subject.PID] {
				continue
			}
			seen, ran, ready := z.T.Sub(a.T), z.OnCPU-a.OnCPU, z.RunDelay-a.RunDelay
			waits := z.Voluntary - a.Voluntary
			long := (seen.Seconds()-ran-ready)/float64(waits+1) > longest[p.Subject.PID]
			if ran == 0 {
				out[[2]int{z.PID, z.TID}] = long || 2*seen >= s.Window.End.Sub(s.Window.Start)
			} else {
				out[[2]int{z.PID, z.TID}] = long && waits > 0 && waits < most
			}
		}
	}
	return out
}

// answered are the processes that answered anybody, and how long their longest requests took, s.
func answered(r *recording.Recording) (answers map[int]bool, longest map[int]float64) {
	answers, longest = map[int]bool{}, map[int]float64{}
	for _, row := range r.Turns {
		if row.Role == string(Serves) {
			answers[row.PID] = answers[row.PID] || row.N > 0
			longest[row.PID] = max(longest[row.PID], row.Max, row.Oldest)
		}
	}
	return answers, longest
}

// neverLeft are the rows of the one thread that each look found in a place, of a process whose threads are
// taken together: longer than any request of it lasts, so it serves nobody, as in servesNobody.
func neverLeft(r *recording.Recording) map[int]bool {
	type spot struct {
		pid, fd int
		call    string
		object  uint64
	}
	answers, longest := answered(r)
	stays, seconds := map[spot][]int{}, map[int]map[recording.Time]bool{}
	var first, last recording.Time
	for i, row := range r.ThreadStates {
		if row.TID != 0 || !answers[row.PID] {
			continue
		}
		if seconds[row.PID] == nil {
			seconds[row.PID] = map[recording.Time]bool{}
		}
		seconds[row.PID][row.T] = true
		if first == 0 {
			first = row.T
		}
		last = row.T
		if at := (spot{row.PID, row.FD, row.Call, row.Inode + row.Futex}); row.State == "S" && row.Threads == 1 && row.N == row.Looks {
			stays[at] = append(stays[at], i)
		}
	}
	out := map[int]bool{}
	for at, rows := range stays {
		if len(rows) == len(seconds[at.pid]) && last.Sub(first).Seconds() > longest[at.pid] {
			for _, i := range rows {
				out[i] = true
			}
		}
	}
	return out
}

// scheduled is how long threads ran, and waited for a CPU, s.
type scheduled struct{ ran, ready float64 }

// schedule is how long each thread ran and waited for a CPU in the window, and (with TID
// 0) each process; and all threads of a name.
func schedule(r *recording.Recording) (ran, ready map[[2]int]float64, alike map[string]scheduled) {
	ran, ready, alike = map[[2]int]float64{}, map[[2]int]float64{}, map[string]scheduled{}
	first := map[[2]int]recording.Thread{}
	for _, row := range r.Threads {
		t := [2]int{row.PID, row.TID}
		f, seen := first[t]
		if !seen {
			first[t] = row
			continue
		}
		ran[t], ready[t] = row.OnCPU-f.OnCPU, row.RunDelay-f.RunDelay
	}
	for t, row := range first {
		all := [2]int{t[0], 0}
		ran[all] += ran[t]
		ready[all] += ready[t]
		c := alike[row.Comm]
		alike[row.Comm] = scheduled{c.ran + ran[t], c.ready + ready[t]}
	}
	return ran, ready, alike
}

// FileLock is where threads wait that want a lock of a file: whichever file.
const FileLock = "a file's"

// placeOf is the account of a thread's state; "" where it waits for anything.
func placeOf(s *scene.Scene, row recording.ThreadStates) place {
	kind := calls.Of(row.Call)
	switch {
	case row.State == "R":
		return place{account: Work}
	case row.State == "T":
		return place{account: Stopped}
	case row.State == "D" && (row.IO || scene.IOWorker(row.Comm)):
		return place{account: Disk}
	case row.State == "D" && kind&(calls.Reads|calls.Writes|calls.OnFD) != 0:
		return place{account: Disk}
	case row.State == "D":
		return place{account: Kernel}
	case scene.IOWorker(row.Comm): // for work
		return place{}
	case row.Lock:
		return place{account: Lock, where: fmt.Sprintf("%#x", row.Futex)}
	case kind&calls.Locks != 0: // to be told of something, as a pool's threads are
		return place{}
	case kind&calls.Accepts != 0, kind&calls.Polls != 0:
		return place{}
	case row.Call == "nanosleep": // Go's monitor thread; C libraries sleep by clock_nanosleep (glibc since 2.31)
		return place{}
	case kind&calls.Sleeps != 0:
		return place{account: Sleep}
	case kind&calls.Children != 0:
		return place{account: Child}
	case kind&(calls.Reads|calls.Writes) != 0:
		return atDescriptor(s, row, kind)
	case row.Call == "connect":
		return place{account: Call, where: remote(s, row)}
	case row.Call == "flock", row.Call == "fcntl": // which sleeps for a lock only (F_SETLKW)
		return place{account: Lock, where: FileLock}
	}
	return place{}
}

// atDescriptor is where a thread stands that waits to read or write.
func atDescriptor(s *scene.Scene, row recording.ThreadStates, kind calls.Kind) place {
	p := s.Process(row.PID)
	if p == nil {
		return place{}
	}
	k := s.SocketByInode(p.First().Netns, row.Inode)
	switch {
	case k == nil && row.Kind == recording.OfSocket && row.Remote == "":
		return place{} // accepted and gone before it was dumped: the next request
	case k == nil && row.Kind == recording.OfFile:
		return place{account: Disk, where: "descriptor " + strconv.Itoa(row.FD)}
	case k == nil && row.Remote == "":
		return place{account: Pipe, where: "descriptor " + strconv.Itoa(row.FD)}
	case k == nil, !k.TakesRequests():
		if kind&calls.Writes != 0 {
			return place{account: Write, where: remote(s, row)}
		}
		return place{account: Call, where: remote(s, row)}
	case kind&calls.Writes != 0:
		return place{account: Write, where: k.First().Remote}
	}
	return place{} // the next request
}

// remote is whom a thread's socket is connected with.
func remote(s *scene.Scene, row recording.ThreadStates) string {
	if row.Remote != "" {
		return row.Remote
	}
	if p := s.Process(row.PID); p != nil {
		if k := s.SocketByInode(p.First().Netns, row.Inode); k != nil {
			return k.First().Remote
		}
	}
	return ""
}
