package recorder

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"snag/recording"
)

// tripwire notices, row by row and at next to no cost, that somebody may be hurt. It accuses nobody:
// what it notices is judged then, from all that was recorded.
type tripwire struct {
	parties map[party]*lately
	// happened are what is worth a look by itself, since the last Tick.
	happened map[string]int
}

// party is who serves, or who is called by whom.
type party struct {
	netns       uint64
	role        string
	at          string // serve: the listener; call: whom it asks
	proto, comm string
}

func (p party) String() string {
	if p.role == "call" {
		return fmt.Sprintf("calls of %s to %s", p.comm, p.at)
	}
	return fmt.Sprintf("%s at %s", p.comm, p.at)
}

// lately is how a party fared: second by second for some, and as a rule.
type lately struct {
	seconds [watchSeconds]fared
	last    int64 // the newest of them, s
	usual   usual
}

// fared is a second's sum.
type fared struct {
	n, failed, lost float64 // answers; of them errors; requests without one
	sum             float64 // of their times, s
	oldest          float64 // of those that are open, s
}

// usual is how it fares as a rule: means over some minutes.
type usual struct {
	seconds float64 // with answers, that they are of
	mean    float64 // of a second's mean time, s
	spread  float64 // of it, s
	oldest  float64
	failed  float64 // share
}

const (
	watchSeconds = 5
	learnFor     = 300.0 // s that the usual is a mean of
	learnLeast   = 30.0  // s of answers from which it tells something
	mostParties  = 4000
	forgetParty  = 600 // s without a row

	slowTimes  = 3.0  // times as long as usual
	slowLeast  = 0.02 // s longer at least
	openLeast  = 1.0  // s
	openTimes  = 5.0
	failShare  = 0.2
	failLeast  = 5.0
	lostLeast  = 5.0
	burstLeast = 50 // drops, resets, failed calls or connects in a tick
)

func newTripwire() *tripwire {
	return &tripwire{parties: map[party]*lately{}, happened: map[string]int{}}
}

// Take takes note of a row.
func (w *tripwire) Take(row recording.Row) {
	switch v := row.(type) {
	case recording.Turns:
		w.turns(v)
	case recording.Event:
		if worthALook[v.Kind] {
			w.happened[v.Kind+" of "+v.Subject.Name+v.Subject.Comm]++
		}
	case recording.Exit:
		if v.Core || v.Signal == "SIGKILL" {
			w.happened["ended by "+v.Signal+": "+v.Comm]++
		}
	case recording.Connections:
		w.count("connections failed of "+v.Comm, v.Failed)
	case recording.CallError:
		if v.Errno != "EAGAIN" && v.Errno != "EINPROGRESS" && v.Errno != "EINTR" {
			w.count(v.Call+" "+v.Errno+" of "+v.Comm, v.N)
		}
	case recording.Drop:
		if !v.Benign && v.PID != 0 {
			w.count("packets dropped of "+v.Comm, v.N)
		}
	}
}

// count adds to what is worth a look where it is much.
func (w *tripwire) count(what string, n uint64) {
	if n > 0 && len(w.happened) < mostParties {
		w.happened["+"+what] += int(min(n, math.MaxInt32))
	}
}

// worthALook are events that somebody suffers, or may.
var worthALook = map[string]bool{
	recording.EventStreamFreeze: true, recording.EventStreamLate: true, recording.EventStreamSlow: true, recording.EventStreamEnded: true, recording.EventStreamRefused: true,
	recording.EventStopped: true, recording.EventThrottled: true, recording.EventSafepoint: true, recording.EventGCPause: true, recording.EventAllocStall: true,
}

func (w *tripwire) turns(v recording.Turns) {
	p := party{netns: v.Netns, role: v.Role, at: v.Local, proto: v.Proto, comm: v.Comm}
	if v.Role == "call" {
		p.at = v.Remote
	}
	l := w.parties[p]
	if l == nil {
		if len(w.parties) >= mostParties {
			return
		}
		l = &lately{}
		w.parties[p] = l
	}
	s := l.at(int64(v.T) / int64(time.Second))
	if s == nil {
		return
	}
	s.n += float64(v.N)
	s.sum += v.Sum
	s.failed += float64(v.Failed)
	s.lost += float64(v.Cut)
	s.oldest = max(s.oldest, v.Oldest)
}

// at is a second's sum; nil where that is over.
func (l *lately) at(second int64) *fared {
	if second <= l.last-watchSeconds {
		return nil
	}
	for l.last < second {
		if second-l.last > watchSeconds {
			l.last = second - watchSeconds
		}
		l.last++
		l.seconds[l.last%watchSeconds] = fared{}
	}
	return &l.seconds[second%watchSeconds]
}

// Tick tells once a second who may be hurt, and learns what is usual. "" is nobody.
func (w *tripwire) Tick(now recording.Time) (why string) {
	second := int64(now)/int64(time.Second) - 2 // rows of a second come in the next
	for p, l := range w.parties {
		if l.last < second-forgetParty {
			delete(w.parties, p)
			continue
		}
		if reason := l.hurt(second); reason != "" {
			if why == "" {
				why = p.String() + ": " + reason
			}
			continue // what hurts is not what is usual
		}
		l.learn(second)
	}
	for _, what := range slices.Sorted(maps.Keys(w.happened)) {
		rest, counted := strings.CutPrefix(what, "+")
		if why == "" && (!counted || w.happened[what] >= burstLeast) {
			why = rest
		}
	}
	clear(w.happened)
	return why
}

// hurt says how a party fares worse than usual, over the seconds that are kept.
func (l *lately) hurt(until int64) string {
	var all fared
	slow, open := 0, 0
	u := l.usual
	for i := range int64(watchSeconds) {
		s := l.known(until - i)
		all.n, all.sum, all.failed, all.lost = all.n+s.n, all.sum+s.sum, all.failed+s.failed, all.lost+s.lost
		if s.n > 0 && u.seconds >= learnLeast && s.sum/s.n > max(slowTimes*u.mean, u.mean+slowLeast, u.mean+4*u.spread) {
			slow++
		}
		if s.oldest > max(openLeast, openTimes*u.oldest) {
			open++
		}
	}
	switch {
	case slow >= 3:
		return fmt.Sprintf("answers take %.1f times as long as usual", all.sum/max(all.n, 1)/max(u.mean, 1e-6))
	case open >= 3 && u.seconds > 0:
		return "requests stay without an answer"
	case all.failed >= failLeast && all.failed/max(all.n, 1) > max(failShare, 2*u.failed):
		return fmt.Sprintf("%.0f of %.0f answers are errors", all.failed, all.n)
	case all.lost >= lostLeast:
		return fmt.Sprintf("%.0f requests had no answer when their connection ended", all.lost)
	}
	return ""
}

// known is a second that is kept, empty where it is not.
func (l *lately) known(second int64) fared {
	if second > l.last || second <= l.last-watchSeconds {
		return fared{}
	}
	return l.seconds[second%watchSeconds]
}

// learn takes a second into what is usual.
func (l *lately) learn(second int64) {
	s := l.known(second)
	if s.n == 0 {
		return
	}
	u := &l.usual
	part := 1 / min(u.seconds+1, learnFor)
	u.seconds++
	mean := s.sum / s.n
	u.spread += part * (math.Abs(mean-u.mean) - u.spread)
	if u.seconds == 1 {
		u.spread = 0
	}
	u.mean += part * (mean - u.mean)
	u.oldest += part * (s.oldest - u.oldest)
	u.failed += part * (s.failed/s.n - u.failed)
}
