package measure

import (
	"cmp"
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// TwoSides is the measure of requests whose both ends were captured.
const TwoSides = "sides.requests"

// held is what of the late requests' waits passed where. The parts are sums, s.
type held struct {
	*scene.Served
	n                     int
	wait, server, network float64
	out, back, bound      float64 // of those whose ways are told apart
	split                 int
	lostOut, lostBack     int
	lossy                 int // requests of which segments were lost
	worst                 recording.Request
	hops                  hopSums
	active                []recording.Interval
}

// LateRequests are the requests to one server that waited long, by both captures: those that
// the server had for half of their wait or more, and those that the network had.
type LateRequests struct{ server, network *held }

// LateOnBothSides are the servers whose requests waited long.
func LateOnBothSides(r *recording.Recording) []LateRequests {
	var out []LateRequests
	for _, v := range scene.TwoSided(r) {
		if len(v.Late) == 0 {
			continue
		}
		l := LateRequests{&held{Served: v}, &held{Served: v}}
		for _, q := range v.Late {
			if 2*q.AtServer >= q.Wait {
				l.server.add(q)
			} else {
				l.network.add(q)
			}
		}
		for _, h := range []*held{l.server, l.network} {
			h.active = intervals.Merge(h.active, 0)
		}
		out = append(out, l)
	}
	return out
}

func (h *held) add(q recording.Request) {
	h.n++
	h.wait += q.Wait
	h.server += q.AtServer
	h.network += q.Network
	if q.Out != nil && q.Back != nil {
		h.out += *q.Out
		h.back += *q.Back
		h.bound += q.Bound
		h.split++
	}
	h.hops.add(q)
	h.lostOut += q.LostOut
	h.lostBack += q.LostBack
	if q.LostOut+q.LostBack > 0 {
		h.lossy++
	}
	if q.Wait > h.worst.Wait {
		h.worst = q
	}
	h.active = append(h.active, recording.Interval{Start: q.T, End: q.T.Add(time.Duration((q.Upload + q.Wait) * 1e9))})
}

// told is the slowest request in one sentence: "4.0 s of the 4.03 s".
func (h *held) told() string {
	q := h.worst
	what := "a request"
	if q.Name != "" {
		what = q.Name
	}
	text := fmt.Sprintf("%s of the %s that %s waited", units.Hundredths(q.AtServer), units.Hundredths(q.Wait), what)
	if q.Out != nil {
		text += fmt.Sprintf(" (way out %s, way back %s, each within %s)", units.Lasting(*q.Out), units.Lasting(*q.Back), units.Lasting(q.Bound))
	}
	if q.Unread != nil && q.Inside != nil {
		text += fmt.Sprintf("; there it waited unread in the socket for %s, and %s had it for %s", units.Hundredths(*q.Unread), processOf(q), units.Hundredths(*q.Inside))
	}
	return text
}

const (
	bothCaptures = "captures of both ends"
	serversCalls = "trace of the server's calls"
	serversTurns = "recording of the server: turns of its connections"
	serversQueue = "recording of the server: queues of its connections, once a second"
)

// insideBy is what told what a server did with a request.
func insideBy(q recording.Request) source.Source {
	switch q.InsideBy {
	case "turns":
		return source.File(serversTurns)
	case "sockets":
		return source.File(serversQueue)
	}
	return source.File(serversCalls)
}

// finding begins what all causes say of the same server. Related are its address as
// each single capture knows it.
func (h *held) finding(r *recording.Recording) suspect.Finding {
	f := suspect.Finding{Subject: h.Subject, Active: h.active}
	at := h.worst.ServerAt
	if at == "" {
		at = h.Server
	}
	for _, n := range r.Netns {
		f.Related = append(f.Related,
			recording.Subject{Kind: recording.KindPeer, Netns: n.ID, Proto: "tcp", Remote: h.Server},
			recording.Subject{Kind: recording.KindPort, Netns: n.ID, Proto: "tcp", Local: at})
	}
	return f
}

// ByTheServer reports that the server had the requests for most of the time that their clients
// waited. Which of its parts was slow only its own host can tell.
func (l LateRequests) ByTheServer(r *recording.Recording) suspect.Finding {
	h := l.server
	if h.n == 0 {
		h = l.network
		if 2*h.Longest >= h.worst.Wait { // it had others as long, perhaps by design
			return h.finding(r)
		}
		f := h.finding(r)
		f.Text = "the server answered in time"
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: h.server, Unit: "s", Source: source.File(bothCaptures), Origin: "both captures",
			Text: fmt.Sprintf("the server had %s of the %s that %s waited; the network had the rest", units.Lasting(h.server), units.Lasting(h.wait), units.Plural(h.n, "late request"))})
		return f
	}
	f := h.finding(r)
	usual, _ := h.Median()
	f.Text = fmt.Sprintf("the server %s had it for %s", h.Server, h.told())
	f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: h.server, Unit: "s", Source: source.File(bothCaptures), Origin: "both captures",
		Text: fmt.Sprintf("of %s waited it had %s, by its own capture: from their last byte come to the answer's first byte gone; half of all requests it had under %s",
			thatWaited(h), units.Hundredths(h.server), units.Lasting(usual))})
	each := h.server / float64(h.n)
	f.Harm = h.harm(r, each, fmt.Sprintf("a late request waits for the server for %s", units.Lasting(each)))
	if e, ok := h.inside(); ok {
		f.Evidence = append(f.Evidence, e)
	}
	f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("Look on the host of %s, not on the network: what its process did at these times.", h.Server)}
	f.Next = "on that host: snag find --port " + recording.Port(cmp.Or(h.worst.ServerAt, h.Server)) + "; or strace -f -ttt -T -yy -p PID, and give snag read its file with the captures"
	return f
}

// inside is what the server's calls say of the time that it had the requests.
func (h *held) inside() (suspect.Evidence, bool) {
	unread, inside, unsent, n := 0.0, 0.0, 0.0, 0
	who := recording.Request{}
	for _, q := range h.Late {
		if 2*q.AtServer < q.Wait || q.Unread == nil || q.Inside == nil || q.Unsent == nil {
			continue
		}
		unread, inside, unsent, n, who = unread+*q.Unread, inside+*q.Inside, unsent+*q.Unsent, n+1, q
	}
	if n == 0 {
		return suspect.Evidence{}, false
	}
	grade := suspect.Strong
	if who.InsideBy == "sockets" {
		grade = suspect.Weak // looks a second apart
	}
	return suspect.Evidence{Side: suspect.For, Grade: grade, Value: unread, Unit: "s", Source: insideBy(who), Origin: "calls",
		Text: fmt.Sprintf("of %s that its host reports %s passed before %s had read them, %s until it wrote an answer, and %s until that left",
			units.Plural(n, "late request"), units.Hundredths(unread), processOf(who), units.Hundredths(inside), units.Lasting(unsent))}, true
}

func processOf(q recording.Request) string {
	if q.Comm == "" {
		return fmt.Sprintf("process %d", q.PID)
	}
	return fmt.Sprintf("%s[%d]", q.Comm, q.PID)
}

func thatWaited(h *held) string {
	if h.n == 1 {
		return fmt.Sprintf("the %s that one late request", units.Hundredths(h.wait))
	}
	return fmt.Sprintf("the %s that %d late requests", units.Hundredths(h.wait), h.n)
}

// way is the direction that held the late requests up; "" where the clocks' doubt is
// larger than the difference.
func (h *held) way() (name string, longer, other float64) {
	switch {
	case h.split == 0 || 2*h.split < h.n:
		return "", 0, 0
	case h.out-h.bound > h.back+h.bound:
		return "out", h.out, h.back
	case h.back-h.bound > h.out+h.bound:
		return "back", h.back, h.out
	}
	return "", 0, 0
}

// ByLoss reports that segments were lost between the captures, on the requests that were late.
func (l LateRequests) ByLoss(r *recording.Recording) (suspect.Finding, bool) {
	h := l.network
	if h.lostOut+h.lostBack == 0 {
		return suspect.Finding{}, false
	}
	f := h.finding(r)
	way, lost := "out", h.lostOut
	if h.lostBack > h.lostOut {
		way, lost = "back", h.lostBack
	}
	where := "the way " + way
	if 4*min(h.lostOut, h.lostBack) > h.lostOut+h.lostBack {
		where = "both ways"
	}
	f.Text = fmt.Sprintf("segments are lost on %s between the two captures: %s of %s late requests", where, units.Count(float64(h.lossy)), units.Count(float64(h.n)))
	f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: float64(lost), Unit: "segments", Source: source.File(bothCaptures), Origin: "both captures",
		Text: fmt.Sprintf("of %s %s had to be sent again in part because what left the one side never came to the other (segments: %d on the way out, %d back); the network took %s of their %s, the server %s",
			units.Plural(h.n, "late request"), units.Count(float64(h.lossy)), h.lostOut, h.lostBack, units.Lasting(h.network), units.Lasting(h.wait), units.Lasting(h.server))})
	if name, longer, other := h.way(); name != "" {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: longer, Unit: "s", Source: source.File(bothCaptures), Origin: "clocks",
			Text: fmt.Sprintf("the way %s took %s of it, the other %s, within %s", name, units.Lasting(longer), units.Lasting(other), units.Lasting(h.bound))})
	}
	f.Harm = h.networkHarm(r)
	f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("The path %s between the places of the two captures: look at the drop counters of each hop. A capture half way shows which half.", wayOf(way, h))}
	f.Next = "capture half way, and give snag read the two nearest files"
	if hop, share, ok := h.hops.worst(func(p recording.Hop) float64 { return float64(p.LostOut + p.LostBack) }); ok {
		f.Text += fmt.Sprintf(", between %s and %s", hop.From, hop.To)
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "ratio", Source: source.File(bothCaptures + ", and between"), Origin: "hops",
			Text: fmt.Sprintf("%s of these segments were lost between the captures %s and %s (out %d, back %d)", units.Percent(share), hop.From, hop.To, hop.LostOut, hop.LostBack)})
		f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("Look at the drop counters of what lies between the places of %s and %s.", hop.From, hop.To)}
	}
	return f, true
}

func wayOf(way string, h *held) string {
	if way == "out" {
		return "from " + recording.Host(h.worst.Client) + " to " + recording.Host(h.Server)
	}
	return "from " + recording.Host(h.Server) + " to " + recording.Host(h.worst.Client)
}

func (h *held) networkHarm(r *recording.Recording) suspect.Harm {
	each := h.network / float64(h.n)
	return h.harm(r, each, fmt.Sprintf("a late request is on the network for %s", units.Lasting(each)))
}

// harm is none where users notice nothing, and none of a few requests of which nobody
// knows that they are later than they should be (a long poll), unless the user says so.
func (h *held) harm(r *recording.Recording, each float64, text string) suspect.Harm {
	if !h.Felt() && len(r.Manifest.Symptoms) == 0 {
		return suspect.Harm{}
	}
	return suspect.Harm{Symptom: scene.RequestLatency, Amount: each, Unit: "s", Text: text}
}

// ByDelay reports that the network took the time, and nothing was lost.
func (l LateRequests) ByDelay(r *recording.Recording) (suspect.Finding, bool) {
	h := l.network
	_, usual := h.Median()
	each := h.network / float64(max(h.n, 1))
	if h.n == 0 || 4*h.lossy > h.n || each < Bloated || each < BloatedTimes*usual {
		return suspect.Finding{}, false
	}
	f := h.finding(r)
	name, longer, other := h.way()
	f.Text = fmt.Sprintf("the network took %s of the %s that late requests waited, and lost next to nothing", units.Lasting(h.network), units.Lasting(h.wait))
	f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: each, Unit: "s", Source: source.File(bothCaptures), Origin: "both captures",
		Text: fmt.Sprintf("late requests were on the network for %s each, half of all for under %s; %s of %s lost a segment; the server had them for %s",
			units.Lasting(each), units.Lasting(usual), units.Count(float64(h.lossy)), units.Plural(h.n, "late request"), units.Lasting(h.server))})
	if name != "" {
		f.Text += ": on the way " + name
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: longer, Unit: "s", Source: source.File(bothCaptures), Origin: "clocks",
			Text: fmt.Sprintf("the way %s took %s of it, the other %s, within %s", name, units.Lasting(longer), units.Lasting(other), units.Lasting(h.bound))})
		f.Remedy = suspect.Remedy{Permanently: "Shorter queues on the path " + wayOf(name, h) + "."}
	}
	if hop, share, ok := h.hops.worst(func(p recording.Hop) float64 { return p.Network }); ok {
		f.Text += fmt.Sprintf(", between %s and %s", hop.From, hop.To)
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: hop.Network, Unit: "s", Source: source.File(bothCaptures + ", and between"), Origin: "hops",
			Text: fmt.Sprintf("%s of it passed between the captures %s and %s, by the clock of each", units.Percent(share), hop.From, hop.To)})
	}
	f.Harm = h.networkHarm(r)
	f.Next = "tc -s qdisc on the hosts of that path; a capture half way shows which half"
	return f, true
}
