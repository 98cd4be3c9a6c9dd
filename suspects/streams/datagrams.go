package streams

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// arrivals are what a namespace sent, or received, of datagrams in a fault's time: the kernel
// counts them for a namespace and for no socket.
type arrivals struct {
	seen           bool
	seconds, count float64
	usual          float64 // a second otherwise
}

// fewDatagrams a second are no stream: one of 1 Mb/s has 95 of seven TS packets each.
const fewDatagrams = 5.0

// still reports whether next to none moved.
func (m arrivals) still() bool {
	return m.seen && m.seconds >= 0.5 && m.usual >= fewDatagrams && m.count <= little*m.usual*m.seconds
}

// goes reports whether they moved as usual.
func (m arrivals) goes() bool {
	return m.seen && m.seconds >= 0.5 && m.usual >= fewDatagrams && m.count >= goingOn*m.usual*m.seconds
}

func (m arrivals) text() string {
	return fmt.Sprintf("%s in %s (usually %s/s)", units.Count(m.count), units.Lasting(m.seconds), units.Count(m.usual))
}

// datagrams reads a namespace's counter over a fault's time: the steps that lie wholly
// in it, against all others.
func datagrams(r *recording.Recording, netns uint64, name string, spans []recording.Interval) arrivals {
	var m arrivals
	free, freeSeconds := 0.0, 0.0
	for _, proto := range []string{"Udp", "Udp6"} {
		series, ok := measure.Counter(r, netns, "node_netstat_"+proto+"_"+name)
		if !ok {
			continue
		}
		m.seen = true
		for i, step := range series.Steps() {
			from := series.Points[i].T
			took := step.T.Sub(from).Seconds()
			switch {
			case intervals.Cover(spans, from) && intervals.Cover(spans, step.T):
				m.count += step.V
				if proto == "Udp" {
					m.seconds += took
				}
			case !intervals.Cover(spans, from) && !intervals.Cover(spans, step.T):
				free += step.V
				if proto == "Udp" {
					freeSeconds += took
				}
			}
		}
	}
	if freeSeconds > 0 {
		m.usual = free / freeSeconds
	}
	return m
}

// stillDatagrams are the times inside of a span in which next to nothing came to a
// namespace.
func stillDatagrams(r *recording.Recording, netns uint64, span recording.Interval) []recording.Interval {
	series, ok := measure.Counter(r, netns, "node_netstat_Udp_InDatagrams")
	if !ok {
		return nil
	}
	usual, n := 0.0, 0
	for _, step := range series.Steps() {
		if step.V >= fewDatagrams {
			usual += step.V
			n++
		}
	}
	if n == 0 {
		return nil
	}
	usual /= float64(n)
	var out []recording.Interval
	for i, step := range series.Steps() {
		if from := series.Points[i].T; step.V <= little*usual && from >= span.Start && step.T <= span.End {
			out = append(out, recording.Interval{Start: from, End: step.T})
		}
	}
	return intervals.Merge(out, 0)
}

// locateDatagrams reports where a stream stands that comes over UDP: at a reader that
// leaves them unread, at a sender that sends none, between the two, or, where the sender
// is not on this host, that nothing comes.
func (f *faulty) locateDatagrams(s *scene.Scene, r *recording.Recording, l scene.Link) {
	netns := l.To.First().Netns
	if f.delayed {
		var all []recording.Interval
		for _, span := range f.felt {
			span.Start = f.stream.Since(span)
			if still := stillDatagrams(r, netns, span); len(still) > 0 {
				all = append(all, still...)
			} else {
				all = append(all, span)
			}
		}
		f.spans = intervals.Merge(all, 0)
	}
	f.came = datagrams(r, netns, "InDatagrams", f.spans)
	if l.From != nil {
		f.sent = datagrams(r, l.From.First().Netns, "OutDatagrams", f.spans)
	}
	waiting, looks, most, lost := measure.UnreadDatagrams(l.To, f.felt)
	f.left = fmt.Sprintf("up to %s waited unread in the buffer of its socket in %d of %d samples, %s lost for want of room", units.Bytes(float64(most)), waiting, looks, units.Count(float64(lost)))
	switch {
	case waiting >= 2 && float64(waiting) >= mostly*float64(looks):
		if f.at = atServer; f.link == 0 {
			f.at = f.whoReads(r)
		}
	case !f.came.seen || f.came.usual < fewDatagrams:
		f.reason, f.open = "how many datagrams came was not seen", open{true, f.link > 0}
	case !f.came.still():
		if f.link > 0 && f.came.goes() {
			f.at, f.holds = atServer, true
			return
		}
		f.reason, f.open = "datagrams went on coming to "+f.namespaceOf(s, l.To)+", of this stream or of others", open{true, f.link > 0}
	case l.From == nil:
		f.reason = fmt.Sprintf("no datagram came to %s: %s; %s", f.namespaceOf(s, l.To), f.came.text(), f.stream.Ends)
		f.open = open{true, false}
	case f.sent.still():
		f.at = atSource
	case f.sent.goes():
		f.at = atDeadLink
	default:
		f.reason, f.open = "what "+measure.ProgramOf(l.From.Subject)+" sent meanwhile was not seen", open{true, false}
	}
}

func (f *faulty) namespaceOf(s *scene.Scene, k *scene.Socket) string {
	if n := s.NetnsName(k.First().Netns); n != "" {
		return "namespace " + n
	}
	return "this host"
}

// sentNoDatagrams is the finding on a source that sends none.
func (f *faulty) sentNoDatagrams(s *scene.Scene) suspect.Finding {
	l := f.stream.Way[f.link]
	out := f.finding(s, l.From.Subject)
	who := measure.ProgramOf(l.From.Subject)
	out.Text = fmt.Sprintf("%s sent nothing of %s for %s", who, f.stream.Subject.Name, units.Lasting(intervals.Seconds(f.spans, s.Window.End)))
	out.Evidence = []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Value: f.sent.count, Unit: "datagrams", Source: source.SNMP("Udp", "OutDatagrams", "InDatagrams"), Origin: "datagrams",
		Text: fmt.Sprintf("where it sends from, datagrams sent: %s; where they are read, received: %s", f.sent.text(), f.came.text())}}
	if l.From.First().Netns == l.To.First().Netns {
		out.Evidence[0].Doubt = "both ends are in one namespace, and its other traffic is counted too"
	}
	if came, ok := f.frames(); ok {
		out.Evidence = append(out.Evidence, came)
	}
	out.Remedy = sourceOf(who)
	out.Next = fmt.Sprintf("for i in 1 2 3; do head /proc/%d/task/*/{comm,wchan,syscall}; sleep 1; done   # what it waits for", l.From.Subject.PID)
	return out
}

// lostDatagrams is the finding on a way between two sockets that carries none.
func (f *faulty) lostDatagrams(s *scene.Scene) suspect.Finding {
	l := f.stream.Way[f.link]
	out := f.finding(s, l.From.Subject)
	out.Text = fmt.Sprintf("what %s sends does not arrive at %s", measure.ProgramOf(l.From.Subject), l.To.First().Local)
	out.Evidence = []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Value: f.sent.count, Unit: "datagrams", Source: source.SNMP("Udp", "OutDatagrams", "InDatagrams"), Origin: "datagrams",
		Text: fmt.Sprintf("where it sends from, datagrams sent: %s; where they are read, received: %s", f.sent.text(), f.came.text())}}
	out.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("The way from %s to %s: a filter (nft list ruleset), a route, a neighbour, a queue that drops.", recording.Host(l.From.First().Local), l.To.First().Local)}
	out.Next = remedy.InNetns(s, l.To.First().Netns, "tcpdump -c 3 -ni any udp port "+recording.Port(l.To.First().Local))
	return out
}
