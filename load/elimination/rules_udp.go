package elimination

import (
	"fmt"

	"snag/internal/units"
)

func overUDP(m *Measures) bool { return m.Network == "udp" }

// fewRefused could be of a service that has just been restarted.
const fewRefused = 3

// closedPort: a host reports each datagram to a port on which nobody listens (RFC 1122, 4.1.3.1), Linux up to
// six at once and then one per second (net.ipv4.icmp_ratelimit).
func closedPort(m *Measures) Standing {
	p := m.Port
	if p == nil {
		return m.missing(ThePort)
	}
	s := Standing{By: ThePort, Why: fmt.Sprintf("%d of %s answered, for %d the host reports that nothing listens (ICMP port unreachable)", p.Answered, units.Plural(p.Sent, "datagram"), p.Refused)}
	switch {
	case p.Sent == 0:
		return Standing{Why: "not measured: no datagram was sent"}
	case p.Answered == 0 && p.Refused >= fewRefused:
		s.State = Found
	case p.Answered > 0 && p.Refused == 0:
		s.State = RuledOut
	}
	return s
}

// largeDatagrams: a hop that is too narrow drops them, and the message that says so is lost.
func largeDatagrams(m *Measures) Standing {
	b := m.Bytes
	switch {
	case b == nil:
		return m.missing(ByBytes)
	case b.TooLarge:
		return Standing{State: RuledOut, By: ByBytes, Why: fmt.Sprintf("%d bytes are too large for the path, and a hop reports it", b.FullBytes)}
	}
	return bySize(b.Small, b.Full, b.FullBytes, "in one packet")
}

func fragments(m *Measures) Standing {
	if m.Bytes == nil {
		return m.missing(ByBytes)
	}
	return bySize(m.Bytes.Small, m.Bytes.Fragmented, m.Bytes.FragmentedBytes, "in fragments")
}

// bySize compares large datagrams with small ones that were sent in turn.
func bySize(small, large *Tried, bytes int, how string) Standing {
	if small == nil || large == nil || small.N == 0 || large.N == 0 {
		return Standing{Why: "not measured: no larger request is known of this protocol"}
	}
	s := Standing{By: ByBytes, Why: fmt.Sprintf("%d of %d of %d bytes %s are answered, %d of %d small ones", large.Answered, large.N, bytes, how, small.Answered, small.N)}
	switch {
	case small.Answered == 0:
		return Standing{Why: "not measured: small datagrams are not answered either"}
	case large.Answered == 0 && small.lost() == 0:
		s.State = Found
		s.Why += "; a service that takes no messages of this size looks the same"
	case large.lost() == 0:
		s.State = RuledOut
	}
	return s
}

// leastOfBurst is the share of a burst that a full buffer takes at least.
const leastOfBurst = 0.1

// receiveBuffer: what comes at once waits in the socket's buffer, however fast the service is; what finds it full is
// dropped. The same number spread over time needs no room.
func receiveBuffer(m *Measures) Standing {
	b := m.Bursts
	if b == nil || len(b.AtOnce) == 0 {
		return m.missing(InBursts)
	}
	sent, answered, each := 0, 0, true
	for _, t := range b.AtOnce {
		sent, answered = sent+t.N, answered+t.Answered
		each = each && float64(t.lost()) >= leastOfBurst*float64(t.N)
	}
	s := Standing{By: InBursts, Why: fmt.Sprintf("%d of %s that are sent %d at a time are answered, %d of %d one at a time", answered, units.Plural(sent, "datagram"), b.AtOnce[0].N, b.Spread.Answered, b.Spread.N)}
	switch {
	case b.Spread.Answered == 0:
		return Standing{Why: "not measured: datagrams one at a time are not answered either"}
	case b.Dropped > 0:
		return Standing{Why: fmt.Sprintf("not measured: snag's own socket dropped %d answers", b.Dropped)}
	case answered == sent && b.Spread.lost() == 0:
		s.State = RuledOut
	case each && b.Spread.lost() == 0 && !m.Local && b.Echo == nil:
		s.Why += "; the path is as likely, as its host answers no ICMP echo"
	case each && b.Spread.lost() == 0 && !m.Local && b.Echo.Lost > 0:
		s.Why += fmt.Sprintf("; %d of %d ICMP echo were lost as well, so that the path is as likely", b.Echo.Lost, b.Echo.Sent)
	case each && b.Spread.lost() == 0:
		s.State = Found
	}
	return s
}

// lossOverUDP: a request without an answer was lost on the way there, on the way back or at the service. ICMP echo,
// which the kernel answers, is lost on the way alone.
func lossOverUDP(p *Path) Standing {
	s := Standing{By: TheWay, Why: fmt.Sprintf("%s of %s got no answer", units.Count(float64(p.Resent)), units.Plural(int(p.Segments), "request"))}
	if p.Echo == nil {
		s.Why += "; the service may have lost them, and its host answers no ICMP echo"
		return s
	}
	s.Why += fmt.Sprintf(", %d of %d ICMP echo were lost", p.Echo.Lost, p.Echo.Sent)
	switch {
	case p.Echo.Lost >= 2 || p.Echo.Lost > 0 && p.Resent >= 3:
		s.State = Found
	case p.Echo.Lost == 0 && p.Resent == 0 && p.Segments+int64(p.Echo.Sent) >= enoughPackets:
		s.State = RuledOut
	}
	return s
}
