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

// trigger detects from each row, at almost no cost, that clients or streams may be affected. It accuses
// nobody: it only starts a judgement of the recording.
type trigger struct {
	parties map[party]*lately
	// happened counts noteworthy events and errors since the last Tick; those with "+" need many.
	happened map[string]int
	streams  *watched
	resent   resending
}

// party is a service, or a program and what it calls.
type party struct {
	netns       uint64
	role        string
	at          string // serve: the listener; call: the destination
	proto, comm string
}

func (p party) String() string {
	if p.role == "call" {
		return fmt.Sprintf("calls of %s to %s", p.comm, p.at)
	}
	return fmt.Sprintf("%s at %s", p.comm, p.at)
}

// lately holds the last seconds of a party and its usual values.
type lately struct {
	seconds [watchSeconds]fared
	last    int64 // the latest second, Unix time
	usual   usual
}

// fared holds the sums of one second.
type fared struct {
	n, failed, lost float64 // answers; errors among them; requests without an answer
	sum             float64 // of response times, s
	oldest          float64 // age of the oldest open request, s
}

// usual holds moving averages.
type usual struct {
	seconds float64 // number of seconds with answers
	mean    float64 // response time, s
	spread  float64 // mean absolute deviation of it, s
	oldest  float64
	failed  float64 // share of errors
}

const (
	watchSeconds = 5
	learnFor     = 300.0 // s, length of the moving average
	learnLeast   = 30.0  // s with answers before it is used
	mostParties  = 4000
	forgetParty  = 600 // s without a row until a party is dropped

	slowTimes  = 3.0  // times the usual response time
	slowLeast  = 0.02 // s above the usual response time
	openLeast  = 1.0  // s
	openTimes  = 5.0
	failShare  = 0.2
	failLeast  = 5.0
	lostLeast  = 5.0
	burstLeast = 50 // drops, failed calls or connects per tick
)

func newTrigger() *trigger {
	return &trigger{parties: map[party]*lately{}, happened: map[string]int{}, streams: newWatched()}
}

// Take processes a row.
func (w *trigger) Take(row recording.Row) {
	switch v := row.(type) {
	case recording.Turns:
		w.turns(v)
	case recording.Stream:
		w.streams.row(v)
	case recording.Event:
		w.streams.take(v)
		if least, ok := worthALook[v.Kind]; ok && (least == 0 || v.End.Sub(v.T) >= least) {
			w.happened[v.Kind+" of "+v.Subject.Name+v.Subject.Comm]++
		}
	case recording.Exit:
		if v.Core || v.Signal == "SIGKILL" {
			w.happened["ended by "+v.Signal+": "+v.Comm]++
		}
	case recording.Retransmit:
		w.resent.take(v)
	case recording.Connections:
		w.count("connections failed of "+v.Comm, v.Failed)
	case recording.CallError:
		if v.Errno != "EAGAIN" && v.Errno != "EINPROGRESS" && v.Errno != "EINTR" {
			w.count(v.Call+" "+v.Errno+" of "+v.Comm, v.N)
		}
	case recording.Drop:
		if victim := victimOf(v); victim != "" {
			w.count("packets dropped "+victim, v.N)
		}
	}
}

// atAFullQueue frees a datagram for which the socket's receive buffer has no room, on kernels that give no
// reasons (before 5.17; net/ipv4/udp.c, net/ipv6/udp.c; what is inlined into its caller has the caller's name).
var atAFullQueue = []string{"__udp_queue_rcv_skb", "udp_queue_rcv_one_skb", "udp_queue_rcv_skb", "udpv6_queue_rcv_one_skb", "udpv6_queue_rcv_skb"}

// victimOf says who lost the packets of a drop; "" if no program here did, as far as is known. Kernels before
// 6.11 do not name the socket of a packet that comes in, but where the packet was dropped because of a full
// receive buffer there was one. Other drops without an owner are every host's noise: scans, filters, broadcasts.
func victimOf(d recording.Drop) string {
	place, _, _ := strings.Cut(d.Place, ".") // compilers append .isra.0, .constprop.0
	switch {
	case d.Benign:
		return ""
	case d.PID != 0:
		return "of " + d.Comm
	case d.Inode != 0:
		return ""
	case d.Reason == "SOCKET_RCVBUFF" || d.Reason == "" && slices.Contains(atAFullQueue, place):
		return fmt.Sprintf("at the receive buffer of %s %s", d.Proto, d.Dst)
	}
	return ""
}

// count counts errors that matter only in bursts.
func (w *trigger) count(what string, n uint64) {
	if n > 0 && len(w.happened) < mostParties {
		w.happened["+"+what] += int(min(n, math.MaxInt32))
	}
}

// worthALook lists the events that start a judgement on their own, beside those of streams (streamWrongs), and how long
// one has to be for that: a runtime collects garbage all the time, and its short pauses make no answer late.
var worthALook = map[string]time.Duration{
	recording.EventStopped: 0, recording.EventThrottled: 0, recording.EventSafepoint: pauseLeast, recording.EventGCPause: pauseLeast, recording.EventAllocStall: pauseLeast,
}

const pauseLeast = 50 * time.Millisecond

func (w *trigger) turns(v recording.Turns) {
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

// at returns the sums of a second; nil if it is too old.
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

// Tick is called once a second. It returns why clients or streams may be affected, or "", and updates
// the usual values.
func (w *trigger) Tick(now recording.Time) (why string) {
	second := int64(now)/int64(time.Second) - 2 // rows of a second arrive in the next one
	for p, l := range w.parties {
		if l.last < second-forgetParty {
			delete(w.parties, p)
			continue
		}
		if reason := l.hurt(second); reason != "" {
			if why == "" {
				why = p.String() + ": " + reason
			}
			continue // do not learn from trouble
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
	if more := w.resent.tick(second); why == "" {
		why = more
	}
	return why
}

// hurt says in what way the last seconds of a party are worse than usual; "" if they are not.
func (l *lately) hurt(until int64) string {
	var all fared
	slow, open := 0, 0
	u := l.usual
	for i := range int64(watchSeconds) {
		s := l.known(until - i)
		all.n, all.sum, all.failed, all.lost = all.n+s.n, all.sum+s.sum, all.failed+s.failed, all.lost+s.lost
		if l.slow(s) {
			slow++
		}
		if s.oldest > max(openLeast, openTimes*u.oldest) {
			open++
		}
	}
	switch {
	case slow >= 3, slow == 2 && l.slow(all): // or in bursts, as pauses of a second every few seconds
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

// slow reports whether answers took so much longer than usual.
func (l *lately) slow(s fared) bool {
	u := l.usual
	return s.n > 0 && u.seconds >= learnLeast && s.sum/s.n > max(slowTimes*u.mean, u.mean+slowLeast, u.mean+4*u.spread)
}

// known returns the sums of a second, zero if unknown.
func (l *lately) known(second int64) fared {
	if second > l.last || second <= l.last-watchSeconds {
		return fared{}
	}
	return l.seconds[second%watchSeconds]
}

// learn adds a second to the usual values.
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
