package elimination

import (
	"fmt"

	"snag/internal/units"
)

func pathLength(m *Measures) Standing {
	rtt, known := m.rtt()
	if !known || m.Path == nil { // a lossy path is a fault that its length is not: that is measured with it
		return m.missing(TheWay)
	}
	of := m.kept()
	if of == 0 {
		of = m.whole()
	}
	return m.share(TheWay, rtt, max(of, rtt), "the shortest round trip takes")
}

// pathQueue: connects are answered by the kernel. What half of them take longer than the shortest is
// spent in a queue.
func pathQueue(m *Measures) Standing {
	if len(m.Connect) == 0 {
		return m.missing(Connects)
	}
	for _, a := range m.Connect {
		if a.N < fewSamples {
			continue
		}
		if 2*a.Delayed >= a.Tried {
			return Standing{Why: "not measured: most connects waited for a SYN to be sent again"}
		}
		// Packets may wait for as long as the connects last: others' round trips count too.
		least := a.Least
		if rtt, known := m.rtt(); known {
			least = min(least, rtt)
		}
		return m.share(Connects, a.P50-least, max(m.kept(), a.P50), "beyond the shortest, half of the round trips take")
	}
	return Standing{Why: "not measured: too few connects succeeded"}
}

// fewSamples have no median to speak of.
const fewSamples = 5

// lost is how many packets of established connections and of ICMP echo were lost, of how many. Its
// answer shows both ways for echo, and the way to the server for segments.
func (m *Measures) lost() (lost, of float64, known bool) {
	if m.Path == nil {
		return 0, 0, false
	}
	lost, of = float64(m.Path.Resent), float64(m.Path.Segments)
	if e := m.Path.Echo; e != nil && e.Lost < e.Sent {
		lost, of = lost+float64(e.Lost), of+float64(e.Sent)
	}
	return lost, of, of >= leastPackets
}

const (
	leastPackets = 50
	// A loss of 1 % shows in 300 packets at least once with 95 % probability.
	enoughPackets = 300
	leastLoss     = 0.005
)

func packetLoss(m *Measures) Standing {
	p := m.Path
	if p == nil {
		return m.missing(TheWay)
	}
	if m.Network == "udp" && p.Segments > 0 {
		return lossOverUDP(p)
	}
	lost, of, known := m.lost()
	if !known || p.Answers == 0 && p.Echo == nil {
		return Standing{Why: "not measured: too few packets"}
	}
	s := Standing{By: TheWay, Why: fmt.Sprintf("%s of %s packets were lost", units.Count(lost), units.Count(of))}
	echoed := p.Echo != nil && p.Echo.Lost < p.Echo.Sent
	switch {
	case p.Answers == 0 && p.Resent > 0:
		s.Why += ", all of connections without an answer"
	case lost >= 3 && lost >= leastLoss*of:
		s.State = Found
		if p.Late > 0 {
			s.Why += fmt.Sprintf("; %s of %s answers waited for a retransmission timeout", units.Count(float64(p.Late)), units.Count(float64(p.Answers)))
		}
	case lost == 0 && of >= enoughPackets && p.Late == 0 && (echoed || p.Answers >= enoughPackets):
		s.State = RuledOut
	}
	return s
}

func largeToServer(m *Measures) Standing {
	z := m.Size
	switch {
	case z == nil:
		return m.missing(Sizes)
	case z.stuck(z.Padded) && z.Plain != nil && z.Plain.Answered > 0 && z.freed():
		return Standing{State: Found, By: Sizes, Why: fmt.Sprintf("requests of 3,000 bytes get no answer, and do with segments of %d bytes", z.SmallSegment)}
	case z.stuck(z.Plain) && z.freed() && z.Plain.Unacked > 0:
		return Standing{State: Found, By: Sizes, Why: fmt.Sprintf("the request is not acknowledged, and is with segments of %d bytes", z.SmallSegment)}
	case z.Padded != nil && z.Padded.N > 0 && z.Padded.Answered == z.Padded.N && z.Filled:
		return Standing{State: RuledOut, By: Sizes, Why: fmt.Sprintf("%s that fill segments of %d bytes are answered", units.Plural(z.Padded.N, "request"), z.Segment)}
	case z.Padded == nil:
		return Standing{Why: "not measured: " + either(m.Missing["padded"], "no request that fills a segment is known of this protocol")}
	}
	return Standing{Why: "not measured: " + z.vague()}
}

func largeFromServer(m *Measures) Standing {
	z := m.Size
	switch {
	case z == nil:
		return m.missing(Sizes)
	case z.stuck(z.Plain) && z.freed() && z.Plain.Unacked == 0:
		return Standing{State: Found, By: Sizes, Why: fmt.Sprintf("the request is acknowledged and no answer comes; with segments of %d bytes it does", z.SmallSegment)}
	case z.Largest > 0 && z.SegmentBack > 0 && z.Largest >= z.SegmentBack-optionBytes:
		return Standing{State: RuledOut, By: Sizes, Why: fmt.Sprintf("segments of %d bytes arrive, of %d allowed", z.Largest, z.SegmentBack)}
	}
	if z.stuck(z.Plain) {
		return Standing{Why: "not measured: " + z.vague()}
	}
	return Standing{Why: "not measured: no answer filled a segment, so that none could vanish"}
}

// optionBytes are those that TCP's options take in each segment at most.
const optionBytes = 40

func (z *Size) stuck(t *Tried) bool { return t != nil && t.N > 0 && t.Answered == 0 }

// vague is why requests that fill segments, or were to, show nothing.
func (z *Size) vague() string {
	switch {
	case z.stuck(z.Plain):
		return "no request was answered, with small segments neither"
	case !z.Filled:
		return fmt.Sprintf("a request of 3,000 bytes does not fill a segment of %d", z.Segment)
	}
	return "only some of the requests that fill segments were answered"
}

func (z *Size) freed() bool { return z.Small != nil && z.Small.N > 0 && z.Small.Answered == z.Small.N }

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
