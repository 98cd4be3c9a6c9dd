package elimination

import (
	"slices"
	"strings"
	"testing"
)

// wellMeasured is a service over TLS, 2 ms away, in which nothing is slow and everything was measured.
func wellMeasured() *Measures {
	times := func(p50 float64) Times { return Times{N: 40, P50: p50, P90: 1.2 * p50, Most: 1.5 * p50} }
	null := Asked{Times: times(0.0022)}
	return &Measures{
		Version: 1, Target: "https://api/", Network: "tcp", Secure: true, Slow: 0.02, NoDelay: true, DoesNothing: "HEAD", HighRate: 1000,
		Fresh:   &Fresh{Whole: Times{N: 12, P50: 0.011, Most: 0.014}, Resolve: 0.0005, Connect: 0.002, TLS: 0.004, Answer: 0.004},
		Kept:    &Asked{Times: times(0.004)},
		Own:     &Own{Times: times(0.0001), LagP50: 0.00005, LagP90: 0.0002},
		Resolve: &Resolve{Times: Times{N: 5, P50: 0.0005, Most: 0.001}},
		Connect: []Address{{Address: "10.0.0.1:443", Times: times(0.0021), Least: 0.002, Tried: 20}},
		Path:    &Path{Least: 0.002, Segments: 400, Answers: 400, Echo: &Echo{Sent: 100, P50: 0.002, Min: 0.002}},
		Size:    &Size{Plain: &Tried{N: 3, Answered: 3}, Padded: &Tried{N: 3, Answered: 3}, Segment: 1448, SegmentBack: 1460, Largest: 1448, Filled: true},
		TLS:     &Handshake{Times: times(0.004), Trips: 1},
		Null:    &Null{Asked: Asked{Times: times(0.004)}, Null: &null},
		Rates:   []Step{{Rate: 40, Answers: 40, Due: 0.004, Sent: 0.004}, {Rate: 1000, Conns: 16, Answers: 1000, Due: 0.0042, Sent: 0.0042}},
		Done:    []string{TheRequest, OwnServer, Lookup, Connects, TheWay, Sizes, Handshakes, NewOnes, SocketOptions, NullRequest, ManyRates},
	}
}

func states(m *Measures) map[string]State {
	out := map[string]State{}
	for _, s := range Judge(m) {
		out[s.Suspect] = s.State
	}
	return out
}

// Where all was measured and is well, everybody is ruled out.
func TestWell(t *testing.T) {
	t.Parallel()
	for _, s := range Judge(wellMeasured()) {
		if s.State != RuledOut || s.By == "" || s.Why == "" {
			t.Errorf("%+v", s)
		}
	}
	if story := Tell(wellMeasured()); !strings.Contains(story.First, "nothing slow was found") || len(story.Left)+len(story.Untried) > 0 {
		t.Errorf("%+v", story)
	}
}

// guilty changes a well measurement so that one suspect is.
var guilty = map[string]func(m *Measures){
	"client-busy": func(m *Measures) { m.Own.P50, m.Own.LagP50, m.Own.LagP90, m.Kept.P50 = 0.05, 0.04, 0.09, 0.06 },
	"resolver":    func(m *Measures) { m.Resolve.P50, m.Resolve.Most, m.Fresh.Whole.P50 = 0.06, 0.06, 0.07 },
	"dead-address": func(m *Measures) {
		m.Connect = append(m.Connect, Address{Address: "10.0.0.9:443", Tried: 20, Silent: 20, Delayed: 20})
	},
	"path-length":     func(m *Measures) { far(m, 0.08) },
	"path-queue":      func(m *Measures) { m.Connect[0].P50, m.Kept.P50 = 0.06, 0.07 },
	"packet-loss":     func(m *Measures) { m.Path.Resent, m.Path.Late = 8, 9 },
	"listen-queue":    func(m *Measures) { m.Connect[0].Delayed = 8 },
	"large-to-server": func(m *Measures) { m.Size.Padded.Answered, m.Size.Small = 0, &Tried{N: 3, Answered: 3} },
	"large-from-server": func(m *Measures) {
		m.Size.Plain.Answered, m.Size.Largest, m.Size.Small = 0, 536, &Tried{N: 3, Answered: 3}
	},
	"tls":             func(m *Measures) { m.TLS.P50, m.Fresh.Whole.P50 = 0.1, 0.11 },
	"new-connections": func(m *Measures) { m.Fresh.Answer, m.Fresh.Whole.P50 = 0.1, 0.11 },
	"nagle-client": func(m *Measures) {
		m.NoDelay, m.Kept.P50 = false, 0.044
		m.Options = []Option{{Name: "TCP_NODELAY", Pairs: [][2]float64{{0.044, 0.004}}, Frees: true}}
	},
	"nagle-service": func(m *Measures) {
		m.Kept.P50 = 0.044
		m.Options = []Option{{Name: "TCP_QUICKACK", Pairs: [][2]float64{{0.044, 0.004}}, Frees: true}}
	},
	"handler": func(m *Measures) {
		m.Null.Asked.P50, m.Kept.P50, m.Fresh.Answer, m.Fresh.Whole.P50 = 0.1, 0.1, 0.1, 0.11
	},
	"service": func(m *Measures) {
		m.Null.Asked.P50, m.Null.Null.P50, m.Kept.P50, m.Fresh.Answer, m.Fresh.Whole.P50 = 0.1, 0.098, 0.1, 0.1, 0.11
	},
	"closed-port":     func(m *Measures) { m.Kept, m.Port.Answered, m.Port.Refused = &Asked{Failed: 16}, 0, 3 },
	"large-datagrams": func(m *Measures) { m.Bytes.Full.Answered = 0 },
	"fragments":       func(m *Measures) { m.Bytes.Fragmented.Answered = 0 },
	"receive-buffer":  func(m *Measures) { m.Bursts.AtOnce = []Tried{{N: 64, Answered: 5}, {N: 64, Answered: 5}} },
	"pool":            func(m *Measures) { m.Rates[1].Answers, m.Rates[1].Due, m.Rates[1].Behind = 300, 0.4, 600 },
}

// far is a round trip of so many seconds in all that was measured.
func far(m *Measures, rtt float64) {
	m.Connect[0].P50, m.Connect[0].Least, m.Path.Least, m.Path.Echo.Min = rtt, rtt, rtt, rtt
	m.Kept.P50, m.Null.Asked.P50, m.Null.Null.P50 = rtt+0.002, rtt+0.002, rtt+0.0002
	m.TLS.P50, m.Fresh.Answer, m.Fresh.Whole.P50 = rtt+0.002, rtt+0.002, 3*rtt
	for i := range m.Rates {
		m.Rates[i].Due, m.Rates[i].Sent = rtt+0.002, rtt+0.002
	}
	m.Options = []Option{{Name: "TCP_QUICKACK", Pairs: [][2]float64{{rtt, rtt}}}}
}

// Each suspect is found by the measurement that shows it, and nobody else is.
func TestGuilty(t *testing.T) {
	t.Parallel()
	for _, s := range Suspects {
		change := guilty[s.ID]
		if change == nil {
			t.Errorf("%s: no case", s.ID)
			continue
		}
		m := wellMeasured()
		if s.applies != nil && !s.applies(m) {
			m = overDatagrams()
		}
		change(m)
		for id, state := range states(m) {
			if (id == s.ID) != (state == Found) {
				t.Errorf("%s is guilty: %s is %s", s.ID, id, state)
			}
		}
		if story := Tell(m); !strings.Contains(story.First, s.About) || story.Left[0].Suspect != s.ID || story.Left[0].Find == "" {
			t.Errorf("%s: %q, left %+v", s.ID, story.First, story.Left)
		}
	}
}

// Nobody is ruled out by what was not measured: without one experiment, those that it would have shown are
// open.
func TestNotMeasuredIsNotRuledOut(t *testing.T) {
	t.Parallel()
	for id, without := range map[string]func(m *Measures){
		"client-busy":       func(m *Measures) { m.Own = nil },
		"resolver":          func(m *Measures) { m.Resolve = nil },
		"dead-address":      func(m *Measures) { m.Connect = nil },
		"listen-queue":      func(m *Measures) { m.Connect = nil },
		"path-length":       func(m *Measures) { m.Path = nil },
		"path-queue":        func(m *Measures) { m.Connect = nil },
		"packet-loss":       func(m *Measures) { m.Path = nil },
		"large-to-server":   func(m *Measures) { m.Size.Padded = nil },
		"large-from-server": func(m *Measures) { m.Size.Largest = 800 },
		"tls":               func(m *Measures) { m.TLS = nil },
		"new-connections":   func(m *Measures) { m.Fresh = nil },
		"nagle-service": func(m *Measures) {
			m.Done = slices.DeleteFunc(m.Done, func(d string) bool { return d == SocketOptions })
		},
		"handler": func(m *Measures) { m.Null.Null = nil },
		"service": func(m *Measures) { m.Null = nil },
		"pool":    func(m *Measures) { m.Rates = m.Rates[:1] },
	} {
		m := wellMeasured()
		without(m)
		if got := states(m)[id]; got != Open {
			t.Errorf("%s is %s without its experiment", id, got)
		}
	}
}

// Nor by a measurement that would not have shown it.
func TestWeakMeasurementsRuleNobodyOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		id    string
		weak  func(m *Measures)
		state State
	}{
		"few packets":                 {"packet-loss", func(m *Measures) { m.Path.Segments, m.Path.Answers = 60, 60 }, Open},
		"one lost":                    {"packet-loss", func(m *Measures) { m.Path.Resent = 1 }, Open},
		"late answers, nothing lost":  {"packet-loss", func(m *Measures) { m.Path.Late = 4 }, Open},
		"segments of a black hole":    {"packet-loss", func(m *Measures) { m.Path.Answers, m.Path.Resent = 0, 20 }, Open},
		"few connects":                {"listen-queue", func(m *Measures) { m.Connect[0].Tried = 4 }, Open},
		"SYNs lost with the others":   {"listen-queue", func(m *Measures) { m.Connect[0].Delayed, m.Path.Resent, m.Path.Echo.Lost = 5, 60, 15 }, Open},
		"a host that answers":         {"dead-address", alive, Open},
		"a queue that is always full": {"listen-queue", alive, Found},
		"jumbo segments":              {"large-to-server", func(m *Measures) { m.Size.Filled, m.Size.Segment = false, 65483 }, Open},
		"some of the time":            {"tls", func(m *Measures) { m.TLS.P50, m.Fresh.Whole.P50 = 0.03, 0.1 }, Open},
		"fast enough":                 {"resolver", func(m *Measures) { m.Resolve.P50, m.Fresh.Whole.P50 = 0.0105, 0.0106 }, Open},
		"a host late now and then":    {"client-busy", func(m *Measures) { m.Own.P90, m.Own.LagP90 = 0.025, 0.025 }, Open},
		"not that slow again": {"nagle-service", func(m *Measures) {
			m.Kept.P50, m.Options = 0.044, []Option{{Name: "TCP_QUICKACK", Pairs: [][2]float64{{0.003, 0.003}}}}
		}, Open},
		"one slow lookup":          {"resolver", func(m *Measures) { m.Resolve.Most = 0.5 }, Open},
		"snag late":                {"pool", func(m *Measures) { m.Rates[1].Why, m.Rates[1].Due = "late", 0.4 }, Open},
		"snag late at any rate":    {"pool", func(m *Measures) { m.Own.P50 = 0.006; guilty["pool"](m) }, Open},
		"not answered at any rate": {"pool", func(m *Measures) { m.Rates[0].Answers = 20; guilty["pool"](m) }, Open},
		"not the highest rate":     {"pool", func(m *Measures) { m.HighRate = 4000 }, Open},
		"too few connections": {"pool", func(m *Measures) {
			m.Rates[0].Sent, m.Rates[0].Due, m.Rates[1].Behind, m.Rates[1].Answers, m.Rates[1].Due = 0.5, 0.5, 600, 300, 2
		}, Open},
		"a handler beside Nagle": {"nagle-service", func(m *Measures) {
			m.Kept.P50, m.Options = 0.09, []Option{{Name: "TCP_QUICKACK", Pairs: [][2]float64{{0.09, 0.05}}}}
		}, Open},
	} {
		m := wellMeasured()
		c.weak(m)
		if got := states(m)[c.id]; got != c.state {
			t.Errorf("%s: %s is %s", name, c.id, got)
		}
	}
}

func alive(m *Measures) {
	yes := true
	m.Connect = []Address{{Address: "10.0.0.1:443", Tried: 20, Silent: 20, Delayed: 20, Alive: &yes}}
}

// A host that is late by a part of an answer is found before what else takes long on it; one that is late by
// next to nothing of it is not.
func TestBusyHostFirst(t *testing.T) {
	t.Parallel()
	for kept, want := range map[float64]State{0.06: Found, 0.4: Open} {
		m := wellMeasured()
		m.Own.P50, m.Own.P90, m.Kept.P50, m.Resolve.P50, m.Fresh.Whole.P50 = 0.015, 0.05, kept, 0.098, 0.1
		if got := states(m)["client-busy"]; got != want {
			t.Errorf("15 ms of %g s: %s", kept, got)
		}
	}
}

// A path that loses packets and is long is lossy first.
func TestLossBeforeLength(t *testing.T) {
	t.Parallel()
	m := wellMeasured()
	far(m, 0.03)
	m.Path.Resent, m.Path.Late = 9, 9
	if st, _ := Told(Judge(m)); st.Suspect != "packet-loss" || states(m)["path-length"] != Found {
		t.Errorf("%+v", st)
	}
	if m.Path = nil; states(m)["path-length"] != Open {
		t.Error("the length is found before the loss was measured")
	}
}

// What takes as long on the server is not the path's; what is fast there is not the service's.
func TestServer(t *testing.T) {
	t.Parallel()
	m := wellMeasured()
	far(m, 0.08)
	m.Server = &Measures{Version: 1, Here: true, Kept: &Asked{Times: Times{N: 40, P50: 0.079}}}
	if got := states(m)["path-length"]; got != RuledOut {
		t.Errorf("as slow on the server: the path is %s", got)
	}
	m = wellMeasured()
	guilty["service"](m)
	m.Server = &Measures{Version: 1, Here: true, Kept: &Asked{Times: Times{N: 40, P50: 0.004}}}
	if got := states(m)["service"]; got != RuledOut {
		t.Errorf("fast on the server: the service is %s", got)
	}
	if story := Tell(m); !strings.Contains(story.First, "no experiment shows why") || story.Chapters[len(story.Chapters)-1].Experiment != OnServer {
		t.Errorf("%+v", story)
	}
	m.Server.Kept.P50 = 0.1
	if got := states(m)["service"]; got != Found {
		t.Errorf("slow on the server: the service is %s", got)
	}
}

// Suspects that a target cannot have are not named.
func TestWhatCannotBe(t *testing.T) {
	t.Parallel()
	has := func(change func(m *Measures), id string) bool {
		m := wellMeasured()
		change(m)
		_, there := states(m)[id]
		return there
	}
	if has(func(m *Measures) { m.Secure = false }, "tls") || has(func(m *Measures) { m.Network = "udp" }, "listen-queue") || has(func(m *Measures) { m.Local = true }, "packet-loss") {
		t.Error("a suspect is named that cannot be")
	}
	if !has(func(m *Measures) { m.Network = "udp" }, "packet-loss") {
		t.Error("UDP loses packets as well")
	}
}

func TestRoute(t *testing.T) {
	t.Parallel()
	got := Route([]Hop{{TTL: 1, Address: "10.0.0.1", RTT: 0.001}, {TTL: 2}, {TTL: 3, Address: "10.0.9.1", RTT: 0.081}, {TTL: 4, Address: "10.0.9.9", RTT: 0.082, End: true}})
	if got != "4 hops; number 3 of them (10.0.9.1) adds 80 ms" || Route(nil) != "" {
		t.Errorf("%q", got)
	}
}

// A queue that is full while snag connects shows beside the shortest round trip of another experiment, and what waits
// in it is not the service's.
func TestAQueueThatIsFullForLong(t *testing.T) {
	t.Parallel()
	m := wellMeasured()
	times := func(p50 float64) Times { return Times{N: 40, P50: p50, P90: 1.2 * p50, Most: 1.5 * p50} }
	m.Secure, m.Kept = false, &Asked{Times: times(0.210)}
	m.Connect = []Address{{Address: "10.0.0.1:80", Times: times(0.180), Least: 0.146, Tried: 20}}
	m.Path.Least = 0.064
	null := Asked{Times: times(0.211)}
	m.Null = &Null{Asked: Asked{Times: times(0.206)}, Null: &null}
	if s := states(m); s["path-queue"] != Found || s["service"] == Found {
		t.Errorf("%v", s)
	}
	m.Path = nil // then it is open, as nothing shows the path without its queue, and the service is not accused
	m.Connect[0].Least = 0.120
	if s := states(m); s["path-queue"] == RuledOut || s["service"] == Found {
		t.Errorf("%v", s)
	}
}

// Probes that a hop did not answer, the spread of its times, and where TCP goes another way.
func TestRouteOfSeveralProbes(t *testing.T) {
	t.Parallel()
	udp := []Hop{{TTL: 1, Address: "10.0.0.1", RTT: 0.001, Sent: 5, Answered: 3, Least: 0.001, Most: 0.002}, {TTL: 2, Address: "10.0.9.9", RTT: 0.081, End: true, Sent: 5, Answered: 5, Least: 0.079, Most: 0.12}}
	if got := Route(udp); got != "2 hops; number 2 of them (10.0.9.9) adds 80 ms (79 ms to 120 ms); number 1 answered 3 of 5 probes" {
		t.Errorf("%q", got)
	}
	for want, tcp := range map[string][]Hop{
		"":                                nil,
		"the same way by TCP to the port": {{TTL: 1, Address: "10.0.0.1"}, {TTL: 2, Address: "10.0.9.9", End: true}},
		"by TCP to the port number 1 is 10.0.0.2 instead of 10.0.0.1":                       {{TTL: 1, Address: "10.0.0.2"}, {TTL: 2, Address: "10.0.9.9", End: true}},
		"by TCP to the port no answer behind number 1 (10.0.0.1)":                           {{TTL: 1, Address: "10.0.0.1"}},
		"by TCP to the port number 1 is 10.0.9.9 instead of 10.0.0.1, the host is number 1": {{TTL: 1, Address: "10.0.9.9", End: true}},
	} {
		if got := ByTCP(udp, tcp); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := ByTCP(udp[:1], udp); got != "by TCP to the port the host answers as number 2, and not by UDP" {
		t.Errorf("%q", got)
	}
	m := wellMeasured()
	m.Path.Hops, m.Path.ByTCP = udp, udp[:1]
	if n := pathNumber(m); !strings.Contains(n, "answered 3 of 5 probes") || !strings.Contains(n, "no answer behind number 1") {
		t.Error(n)
	}
}

// What was not done is said, and is no chapter.
func TestNotDone(t *testing.T) {
	t.Parallel()
	m := wellMeasured()
	m.Path = nil
	m.Done = slices.DeleteFunc(m.Done, func(d string) bool { return d == TheWay })
	m.Miss(TheWay, "no time was left")
	s := Tell(m)
	if len(s.NotDone) != 1 || s.NotDone[0].Why != "no time was left" || slices.ContainsFunc(s.Chapters, func(c Chapter) bool { return c.Experiment == TheWay }) {
		t.Errorf("%+v", s)
	}
	if !strings.Contains(s.Untried[0].Why, "no time was left") {
		t.Errorf("%+v", s.Untried)
	}
}
