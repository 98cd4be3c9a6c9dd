package elimination

import "testing"

// overDatagrams is a service over UDP, 2 ms away, in which nothing is slow and everything was measured.
func overDatagrams() *Measures {
	m := wellMeasured()
	m.Network, m.Secure, m.DoesNothing = "udp", false, ""
	m.Fresh, m.Connect, m.Size, m.TLS, m.Null.Null = nil, nil, nil, nil, nil
	m.Null.Asked.P50, m.Path.Resent, m.Path.Segments = 0.004, 0, 400
	m.Port = &Port{Sent: 3, Answered: 3}
	m.Bytes = &Bytes{Small: &Tried{N: 10, Answered: 10}, Full: &Tried{N: 10, Answered: 10}, FullBytes: 1472, Fragmented: &Tried{N: 10, Answered: 10}, FragmentedBytes: 2944}
	m.Bursts = &Bursts{Spread: Tried{N: 64, Answered: 64}, AtOnce: []Tried{{N: 64, Answered: 64}, {N: 64, Answered: 64}, {N: 64, Answered: 64}}, Echo: &Echo{Sent: 100}}
	return m
}

// Where all is well, all are ruled out that could be measured; the handler is not, as nothing is known that does
// nothing.
func TestWellOverUDP(t *testing.T) {
	t.Parallel()
	for _, s := range Judge(overDatagrams()) {
		if want := map[bool]State{true: Open, false: RuledOut}[s.Suspect == "handler"]; s.State != want {
			t.Errorf("%+v", s)
		}
	}
}

// Each suspect of UDP is found by what shows it, and by nothing less.
func TestSuspectsOfUDP(t *testing.T) {
	t.Parallel()
	burst := func(answered int) []Tried {
		return []Tried{{N: 64, Answered: answered}, {N: 64, Answered: answered}, {N: 64, Answered: answered}}
	}
	for name, c := range map[string]struct {
		id     string
		change func(m *Measures)
		want   State
	}{
		"nothing listens":            {"closed-port", func(m *Measures) { m.Port.Answered, m.Port.Refused = 0, 3 }, Found},
		"restarted once":             {"closed-port", func(m *Measures) { m.Port.Answered, m.Port.Refused = 0, 1 }, Open},
		"no answer, no report":       {"closed-port", func(m *Measures) { m.Port.Answered, m.Port.Sent = 0, 8 }, Open},
		"some refused":               {"closed-port", func(m *Measures) { m.Port.Refused = 3 }, Open},
		"the port was not tried":     {"closed-port", func(m *Measures) { m.Port = nil }, Open},
		"large ones vanish":          {"large-datagrams", func(m *Measures) { m.Bytes.Full.Answered = 0 }, Found},
		"too large, and reported":    {"large-datagrams", func(m *Measures) { m.Bytes.Full, m.Bytes.TooLarge = &Tried{}, true }, RuledOut},
		"small ones vanish as well":  {"large-datagrams", func(m *Measures) { m.Bytes.Full.Answered, m.Bytes.Small.Answered = 0, 0 }, Open},
		"some large ones vanish":     {"large-datagrams", func(m *Measures) { m.Bytes.Full.Answered = 6 }, Open},
		"the size cannot be chosen":  {"large-datagrams", func(m *Measures) { m.Bytes = nil }, Open},
		"fragments vanish":           {"fragments", func(m *Measures) { m.Bytes.Fragmented.Answered = 0 }, Found},
		"bursts overflow":            {"receive-buffer", func(m *Measures) { m.Bursts.AtOnce = burst(5) }, Found},
		"one burst of three":         {"receive-buffer", func(m *Measures) { m.Bursts.AtOnce[1].Answered = 40 }, Open},
		"one at a time too":          {"receive-buffer", func(m *Measures) { m.Bursts.AtOnce, m.Bursts.Spread.Answered = burst(5), 30 }, Open},
		"snag's own buffer":          {"receive-buffer", func(m *Measures) { m.Bursts.AtOnce, m.Bursts.Dropped = burst(5), 170 }, Open},
		"ICMP echo lost as well":     {"receive-buffer", func(m *Measures) { m.Bursts.AtOnce, m.Bursts.Echo.Lost = burst(5), 9 }, Open},
		"no ICMP echo":               {"receive-buffer", func(m *Measures) { m.Bursts.AtOnce, m.Bursts.Echo = burst(5), nil }, Open},
		"on the server itself":       {"receive-buffer", func(m *Measures) { m.Bursts.AtOnce, m.Bursts.Echo, m.Local = burst(5), nil, true }, Found},
		"the pool, when bursts fail": {"pool", func(m *Measures) { m.Bursts.AtOnce = burst(5); guilty["pool"](m) }, Open},
		"the pool":                   {"pool", guilty["pool"], Found},
		"the path loses":             {"packet-loss", func(m *Measures) { m.Path.Resent, m.Path.Echo.Lost = 20, 8 }, Found},
		"the service loses":          {"packet-loss", func(m *Measures) { m.Path.Resent = 20 }, Open},
		"nobody knows who loses":     {"packet-loss", func(m *Measures) { m.Path.Resent, m.Path.Echo = 20, nil }, Open},
	} {
		m := overDatagrams()
		c.change(m)
		if got := states(m)[c.id]; got != c.want {
			t.Errorf("%s: %s is %s", name, c.id, got)
		}
		if got, there := states(m)["listen-queue"]; there {
			t.Errorf("%s: UDP has no listen queue: %s", name, got)
		}
	}
}

// What was not answered has no time: no number is 0 for it.
func TestNumbersOfNoAnswers(t *testing.T) {
	t.Parallel()
	m := overDatagrams()
	m.Kept = &Asked{Failed: 16}
	m.Rates = []Step{{Rate: 80, Conns: 2, Lost: 16}}
	if got := requestNumber(m); got != "16 requests got no answer" {
		t.Error(got)
	}
	if got := ratesNumber(m); got != "up to 80 requests/s: none was answered" {
		t.Error(got)
	}
	if _, ok := requestFigure(m); ok || !m.IsSlow() {
		t.Error("requests without an answer have a time, or are well")
	}
}
