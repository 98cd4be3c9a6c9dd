package hosts

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/fleet/prom"
)

func TestOneAnswerForManyVictims(t *testing.T) {
	text, causes, f := told(t, storm(), "")
	if len(causes) != 1 || causes[0].Host != "origin-3" || causes[0].Suspect != "runtime-pause" || len(causes[0].Victims) != 7 || f.Standing(causes) != Found {
		t.Fatalf("%+v", causes)
	}
	for _, want := range []string{"8 hosts, 7 affected", "CULPRIT on origin-3  runtime-pause", "java[77]", "edge-1 waits for 10.0.0.3:8080 on origin-3: 50 answers per second, 800 ms each (slow-dependency)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	_, causes, _ = told(t, storm(), `role="edge"`)
	if len(causes) != 1 || len(causes[0].Victims) != 6 || causes[0].Host != "origin-3" {
		t.Errorf("%+v", causes)
	}
	d := f.Document(causes)
	if len(d.Causes) != 1 || len(d.Hosts) != 8 || d.Standing != Found {
		t.Errorf("%+v", d)
	}
}

func TestWhatIsNotSeenIsNotWell(t *testing.T) {
	well := &store{}
	well.host("a", "", "10.0.0.1", time.Second)
	well.host("b", "", "10.0.0.2", time.Second)
	text, causes, f := told(t, well, "")
	if f.Standing(causes) != Well || !strings.Contains(text, "NO HOST AFFECTED, and each was seen") {
		t.Error(text)
	}
	for name, change := range map[string]func(s *store){
		"a host that has gone":     func(s *store) { s.host("c", "", "10.0.0.3", 20*time.Minute) },
		"a recorder that paused":   func(s *store) { s.host("c", "", "", time.Second); s.add("snag_record_up", "c", 0) },
		"a part of the store":      func(s *store) { s.warnings = []string{"store-2: deadline exceeded"} },
		"a host that was affected": func(s *store) { s.host("c", "", "", 20*time.Minute); s.incident("c", "disk-stall", "disk sda", "") },
	} {
		s := &store{all: append([]prom.Sample{}, well.all...)}
		change(s)
		text, causes, f := told(t, s, "")
		if f.Standing(causes) != NotSeen || strings.Contains(text, "NO HOST AFFECTED") || !strings.Contains(text, "not seen") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if _, err := Read(t.Context(), &store{}, "", now); err == nil || !strings.Contains(err.Error(), "--remote-write") {
		t.Error(err)
	}
	if _, err := Read(t.Context(), &store{err: errors.New("gone")}, "", now); err == nil {
		t.Error("a store that does not answer is taken for one without hosts")
	}
}

func TestWays(t *testing.T) {
	chain := func(s *store) {
		s.host("web", "", "10.0.0.1", time.Second)
		s.incident("web", "slow-dependency", "peer 10.0.0.2:9000", "request-latency")
		s.host("app", "", "10.0.0.2", time.Second)
		s.serves("app", "0.0.0.0:9000", 10, 1)
	}
	for name, c := range map[string]struct {
		change func(s *store)
		want   string // host suspect server, of each cause
	}{
		"three hosts": {func(s *store) {
			s.incident("app", "slow-dependency", "peer 10.0.0.4:5432", "")
			s.host("db", "", "10.0.0.4", time.Second)
			s.incident("db", "disk-stall", "disk sda", "request-latency")
		}, "db disk-stall  [app db web]"},
		"packets that the other host drops": {func(s *store) {
			s.incident("app", "packet-loss", "peer 10.0.0.4", "connect-latency")
			s.host("db", "", "10.0.0.4", time.Second)
			s.incident("db", "listen-overflow", "postgres[9] listening on a port", "connect-latency")
		}, "db listen-overflow  [app db web]"},
		"the end of a handshake that the other host drops": {func(s *store) {
			s.incident("app", "half-open-peer", "auth[7] tcp 10.0.0.2:5000 → 10.0.0.4:5432", "connect-latency")
			s.host("db", "", "10.0.0.4", time.Second)
			s.incident("db", "listen-overflow", "postgres[9] listening on a port", "connect-latency")
		}, "db listen-overflow  [app db web]"},
		"a peer that is gone, on a host that drops nothing": {func(s *store) {
			s.incident("app", "half-open-peer", "auth[7] tcp 10.0.0.2:5000 → 10.0.0.4:5432", "connect-latency")
			s.host("db", "", "10.0.0.4", time.Second)
			s.incident("db", "packet-loss", "postgres[9] tcp 10.0.0.4:5432 → 10.0.0.9:5000", "connect-latency")
		}, "app half-open-peer  [app web] db packet-loss  [db]"},
		"large packets that the other host drops": {func(s *store) {
			s.incident("app", "pmtu-blackhole", "tcp 10.0.0.2:5000 → 10.0.0.4:5432", "request-latency")
			s.host("db", "", "10.0.0.4", time.Second)
			s.incident("db", "qdisc-drop", "qdisc tbf 8001: on eth0", "request-latency")
		}, "db qdisc-drop  [app db web]"},
		"a bad way that three hosts have to one": {func(s *store) {
			s.incident("app", "packet-loss", "nginx[9] tcp 10.0.0.2:80 → 10.0.0.5:5000", "request-latency")
			s.host("lb", "", "10.0.0.5", time.Second)
			s.incident("lb", "packet-loss", "haproxy[8] tcp 10.0.0.5:5000 → 10.0.0.2:80", "request-latency")
			s.host("origin", "", "10.0.0.6", time.Second)
			s.incident("origin", "packet-loss", "java[7] tcp 10.0.0.6:8080 → 10.0.0.2:6000", "stream-freeze")
		}, "app packet-loss  [app lb origin web]"},
		"a bad way that both of its ends see": {func(s *store) {
			s.incident("app", "packet-loss", "nginx[9] tcp 10.0.0.2:80 → 10.0.0.5:5000", "request-latency")
			s.host("lb", "", "10.0.0.5", time.Second)
			s.incident("lb", "packet-loss", "haproxy[8] tcp 10.0.0.5:5000 → 10.0.0.2:80", "request-latency")
		}, "app packet-loss  [app lb web]"},
		"a host of which nothing is proved, and to which two lose packets": {func(s *store) {
			s.incident("app", "packet-loss", "peer 10.0.0.4", "connect-latency")
			s.host("batch", "", "10.0.0.6", time.Second)
			s.incident("batch", "packet-loss", "peer 10.0.0.4", "connect-latency")
			s.host("db", "", "10.0.0.4", time.Second)
			s.incident("db", "observer", "snag itself", "request-latency")
		}, "db   [app batch db web]"},
		"a host that sends nothing more, to which one loses packets and another connects late": {func(s *store) {
			s.incident("app", "packet-loss", "peer 10.0.0.4", "connect-latency")
			s.host("batch", "", "10.0.0.6", time.Second)
			s.incident("batch", "", "", "")
			s.add("snag_incident_symptom", "batch", 1, "symptom", "connect-latency", "subject", "peer 10.0.0.4:5432")
			s.host("db", "", "10.0.0.4", 2*time.Minute)
		}, "db   [app batch web]"},
		"a host of which nothing is proved, and to which one loses packets": {func(s *store) {
			s.incident("app", "packet-loss", "peer 10.0.0.4", "connect-latency")
			s.host("db", "", "10.0.0.4", time.Second)
			s.incident("db", "", "", "request-latency")
		}, "app packet-loss  [app web] db   [db]"},
		"packets that the way drops": {func(s *store) {
			s.incident("app", "packet-loss", "tcp 10.0.0.2:5000 → 10.0.0.4:5432", "connect-latency")
			s.host("db", "", "10.0.0.4", time.Second)
			s.incident("db", "disk-stall", "disk sda", "request-latency")
		}, "app packet-loss  [app web] db disk-stall  [db]"},
		"a server that has ended": {func(s *store) {
			s.incident("app", "upstream-refused", "peer 10.0.0.4:5432", "")
			s.host("db", "", "10.0.0.4", time.Second)
		}, "db upstream-refused  [app web]"},
		"calls of an unknown server take most of the time": {func(s *store) {
			s.incident("app", "", "", "request-latency")
			s.calls("app", "192.0.2.7:443", 10, 1)
		}, "app   [app web]"},
		"a host that is not known": {func(s *store) { s.incident("app", "slow-dependency", "peer 192.0.2.7:443", "") }, "  192.0.2.7:443 [app web]"},
		"nothing is proved there":  {func(*store) {}, "app   [web]"},
		"its recorder was too late to prove a cause": {func(s *store) {
			s.incident("app", "observer", "snag itself", "connect-latency")
			s.calls("app", "10.0.0.4:5432", 10, 1)
			s.host("db", "", "10.0.0.4", time.Second)
			s.incident("db", "listen-overflow", "postgres[9] listening on a port", "connect-latency")
		}, "db listen-overflow  [app db web]"},
		"they wait for each other": {func(s *store) { s.incident("app", "slow-dependency", "peer 10.0.0.1:80", "") }, ""},
		"two have one address":     {func(s *store) { s.host("other", "", "10.0.0.2", time.Second) }, "  10.0.0.2:9000 [web]"},
		"a cause of its own": {func(s *store) {
			s.host("alone", "", "10.0.0.8", time.Second)
			s.incident("alone", "cpu-throttled", "app.service", "request-latency")
			s.calls("alone", "10.0.0.2:9000", 10, 1)
			s.serves("alone", "0.0.0.0:1", 10, 1)
		}, "alone cpu-throttled  [alone] app   [web]"},
	} {
		s := &store{}
		chain(s)
		c.change(s)
		_, causes, _ := told(t, s, "")
		var got []string
		for _, x := range causes {
			var names []string
			for _, v := range x.Victims {
				names = append(names, v.Host)
			}
			got = append(got, fmt.Sprintf("%s %s %s %v", x.Host, x.Suspect, x.Server, names))
		}
		if text := strings.Join(got, " "); c.want != "" && text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// Of a fleet only what matters to the affected hosts is read.
func TestWhatIsAsked(t *testing.T) {
	s := storm()
	for i := range 3000 {
		s.host(fmt.Sprintf("quiet-%d", i), "edge", "", time.Second)
	}
	f, err := Read(t.Context(), s, "", now)
	if err != nil || len(f.Hosts) != 3008 {
		t.Fatal(len(f.Hosts), err)
	}
	for _, q := range s.asked {
		if strings.Contains(q, "quiet-") {
			t.Errorf("a host that is not affected is asked for: %s", q)
		}
	}
	calls := f.Hosts["edge-2"].Calls
	if len(calls) != 1 || calls[0].Server != "10.0.0.3:8080" || calls[0].Share < 0.9 {
		t.Errorf("%+v", calls)
	}
	of := slices.DeleteFunc(slices.Clone(s.asked), func(q string) bool { return strings.Contains(q, "node_exporter") })
	if len(of) > 9 { // the first is for clocks that are far off
		t.Errorf("%d queries: %q", len(of), of)
	}
	if n := len(s.asked) - len(of); n != 1 {
		t.Errorf("%d queries for node_exporter, which this store has not", n)
	}
	if _, err := Read(t.Context(), &store{all: s.all[:1]}, `role="edg"`, now); err == nil || !strings.Contains(err.Error(), `no recorder with the labels role="edg"`) {
		t.Error(err)
	}
}

// An address of a service that stands for several servers: the way goes on at the one that is in trouble, and not at
// the one with most connections.
func TestAServiceAddressStandsForServers(t *testing.T) {
	s := &store{}
	s.host("edge-1", "edge", "10.0.1.1", 5*time.Second)
	s.incident("edge-1", "slow-dependency", "peer 10.96.0.10:80 (netns 7)", "request-latency")
	s.add("snag_host_forward_connections", "edge-1", 40, "server", "10.96.0.10:80", "to", "10.0.0.2:8080")
	s.add("snag_host_forward_connections", "edge-1", 20, "server", "10.96.0.10:80", "to", "10.0.0.3:8080")
	s.host("origin-2", "origin", "10.0.0.2", 5*time.Second)
	s.serves("origin-2", "0.0.0.0:8080", 300, 0.002)
	s.host("origin-3", "origin", "10.0.0.3", 5*time.Second)
	s.incident("origin-3", "runtime-pause", "java[77]", "request-latency")
	s.serves("origin-3", "0.0.0.0:8080", 300, 0.8)
	text, causes, _ := told(t, s, `role="edge"`)
	if len(causes) != 1 || causes[0].Host != "origin-3" || !strings.Contains(text, "edge-1 waits for 10.96.0.10:80, which stands for 10.0.0.3:8080 on origin-3") {
		t.Errorf("%+v", causes)
	}
}

// A balancer has the address itself and leads on what comes there; a third host asks for it.
func TestABalancerLeadsOn(t *testing.T) {
	s := &store{}
	s.host("edge-1", "edge", "10.0.1.1", 5*time.Second)
	s.incident("edge-1", "slow-dependency", "peer 10.0.0.100:80", "request-latency")
	s.host("balancer", "lb", "10.0.0.100", 5*time.Second)
	s.add("snag_host_forward_connections", "balancer", 20, "server", "10.0.0.100:80", "to", "10.0.0.3:8080")
	s.host("origin-3", "origin", "10.0.0.3", 5*time.Second)
	s.incident("origin-3", "disk-stall", "vda", "request-latency")
	_, causes, _ := told(t, s, `role="edge"`)
	if len(causes) != 1 || causes[0].Host != "origin-3" || causes[0].Suspect != "disk-stall" {
		t.Errorf("%+v", causes)
	}
}

// A balancer without a verdict of its own asks six edges. None of them takes most of its answers' time, and three do
// together, which wait for one origin. A cause of less than half of its time is not the balancer's.
func TestABalancerOfManyServers(t *testing.T) {
	for late, want := range map[int]string{3: "origin-3 [edge-1 edge-2 edge-3 lb origin-3]", 1: "origin-3 [edge-1 origin-3] lb [lb]"} {
		s := &store{}
		s.host("lb", "lb", "10.0.3.1", time.Second)
		s.incident("lb", "", "", "request-latency")
		s.serves("lb", "0.0.0.0:80", 60, 0.4)
		s.host("origin-3", "origin", "10.0.0.3", time.Second)
		s.incident("origin-3", "runtime-pause", "java[77]", "request-latency")
		for i := range 6 {
			name, each := fmt.Sprintf("edge-%d", i+1), 0.4
			s.host(name, "edge", fmt.Sprintf("10.0.1.%d", i+1), time.Second)
			if i < late {
				s.incident(name, "slow-dependency", "peer 10.0.0.3:8080 (netns 7)", "request-latency")
				each = 0.5
			}
			s.calls("lb", fmt.Sprintf("10.0.1.%d:80", i+1), 10, each)
		}
		_, causes, _ := told(t, s, "")
		var got []string
		for _, c := range causes {
			var names []string
			for _, v := range c.Victims {
				names = append(names, v.Host)
			}
			got = append(got, fmt.Sprintf("%s %v", c.Host, names))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d late: %q, want %q", late, got, want)
		}
		for _, c := range causes {
			for _, v := range c.Victims {
				if v.Host == "lb" && late == 3 && (len(v.Way) != 2 || v.Way[0].More != 2 || !strings.HasSuffix(v.Way[0].String(), "500 ms each, and for 2 more servers for the same cause")) {
					t.Errorf("%+v", v.Way)
				}
			}
		}
	}
}

// Each layer of a live stream blames the one before, until the encoder's host names its own process. That its own
// verdict has its own address is no way to elsewhere.
func TestLayersOfAStream(t *testing.T) {
	s := &store{}
	s.host("encoder", "encoder", "10.0.0.9", 5*time.Second)
	s.incident("encoder", "encoder-stall", "ffmpeg[40] tcp 10.0.0.9:40000 → 10.0.0.2:1935", "stream-late")
	s.host("origin", "origin", "10.0.0.2", 5*time.Second)
	s.incident("origin", "encoder-stall", "tcp 10.0.0.9:40000 → 10.0.0.2:1935", "stream-late")
	s.host("edge", "edge", "10.0.1.1", 5*time.Second)
	s.incident("edge", "encoder-stall", "tcp 10.0.0.2:50000 → 10.0.1.1:1935", "stream-late")
	text, causes, _ := told(t, s, "")
	if len(causes) != 1 || causes[0].Host != "encoder" || causes[0].Suspect != "encoder-stall" || len(causes[0].Victims) != 3 {
		t.Errorf("%s%+v", text, causes)
	}
}

// A balancer passes on the errors of three edges, which are refused by one origin: that is its cause. Errors that are
// mostly its own stay its own.
func TestErrorsThatABalancerPassesOn(t *testing.T) {
	for own, want := range map[float64]string{15: "origin-3 [edge-1 edge-2 edge-3 lb]", 60: "origin-3 [edge-1 edge-2 edge-3] lb [lb]"} {
		s := &store{}
		s.host("lb", "lb", "10.0.3.1", time.Second)
		s.incident("lb", "error-answers", "haproxy[8] listening on a port", "failed-answers")
		s.add("rate failed", "lb", own)
		s.host("origin-3", "origin", "10.0.0.3", time.Second)
		for i := range 6 {
			name := fmt.Sprintf("edge-%d", i+1)
			s.host(name, "edge", fmt.Sprintf("10.0.1.%d", i+1), time.Second)
			if i < 3 {
				s.incident(name, "upstream-refused", "peer 10.0.0.3:8080", "failed-answers")
				s.add("rate failed", name, 5)
			}
			s.calls("lb", fmt.Sprintf("10.0.1.%d:80", i+1), 10, 0.003)
		}
		text, causes, _ := told(t, s, "")
		var got []string
		for _, c := range causes {
			var names []string
			for _, v := range c.Victims {
				names = append(names, v.Host)
				if v.Host == "lb" && c.Host == "origin-3" && v.Way[0].String() != "lb gets errors from 10.0.1.1:80 on edge-1 (error-answers), and for 2 more servers for the same cause" {
					t.Errorf("%s", v.Way[0])
				}
			}
			got = append(got, fmt.Sprintf("%s %v", c.Host, names))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%g errors: %q, want %q\n%s", own, got, want, text)
		}
	}
}

// A player's stream freezes, and the hosts that relay it notice nothing: the way goes back over who sends it to whom,
// to the encoder, whose own verdict names its process.
func TestAFrozenStreamIsFollowedToItsEncoder(t *testing.T) {
	made := func() *store {
		s := &store{}
		s.host("encoder", "encoder", "10.0.0.9", time.Second)
		s.incident("encoder", "process-stopped", "ffmpeg[40]", "")
		s.host("origin", "origin", "10.0.0.2", time.Second)
		s.host("edge", "edge", "10.0.1.1", time.Second)
		s.host("players", "player", "10.0.2.1", time.Second)
		s.incident("players", "", "", "")
		s.add("snag_incident_symptom", "players", 1, "symptom", "stream-freeze", "subject", "viewer[7] tcp 10.0.2.1:5000 → 10.0.1.1:1935")
		s.add("snag_stream_received_bytes_total", "players", 1e6, "process", "viewer", "from", "10.0.1.1:1935")
		s.add("snag_stream_received_bytes_total", "players", 9e6, "process", "backup", "from", "10.0.7.7:873")
		s.add("snag_stream_received_bytes_total", "edge", 1e6, "process", "nginx", "from", "10.0.0.2:40000")
		s.add("snag_stream_received_bytes_total", "origin", 1e6, "process", "nginx", "from", "10.0.0.9:40001")
		return s
	}
	text, causes, f := told(t, made(), "")
	if len(causes) != 1 || causes[0].Host != "encoder" || len(causes[0].Victims) != 2 || !strings.Contains(text, "players gets a stream from 10.0.1.1:1935 on edge") {
		t.Errorf("%+v", causes)
	}
	if f.Hosts["encoder"].Senders != nil {
		t.Error("who sends to a host with a culprit is asked")
	}
	for name, change := range map[string]func(s *store){
		"two that may be it": func(s *store) {
			s.host("encoder-2", "encoder", "10.0.0.8", time.Second)
			s.incident("encoder-2", "cpu-throttled", "ffmpeg[41]", "")
			s.add("snag_stream_received_bytes_total", "origin", 1e6, "process", "nginx", "from", "10.0.0.8:40001")
		},
		"a cause that began long after": func(s *store) {
			for i, x := range s.all {
				if x.Labels["instance"] == "encoder" && x.Labels["__name__"] == "snag_incident_begin_timestamp_seconds" {
					s.all[i].Value += 200
				}
			}
		},
		"what suffers is no stream": func(s *store) {
			for i, x := range s.all {
				if x.Labels["symptom"] != "" {
					s.all[i].Labels["symptom"] = "request-latency"
				}
			}
		},
	} {
		s := made()
		change(s)
		_, causes, _ := told(t, s, "")
		for _, c := range causes {
			if c.Suspect != "" && slices.ContainsFunc(c.Victims, func(v Victim) bool { return v.Host == "players" }) {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}

// The recordings of the host with the cause and of those on a way are fetched before those of more victims.
func TestHostsThatMatter(t *testing.T) {
	s := storm()
	for i := range 20 {
		name := fmt.Sprintf("a-%02d", i) // before all others in order
		s.host(name, "edge", fmt.Sprintf("10.0.2.%d", i+1), 5*time.Second)
		s.incident(name, "slow-dependency", "peer 10.0.0.3:8080 (netns 7)", "request-latency")
	}
	_, causes, f := told(t, s, "")
	var names []string
	for _, h := range f.Matter(causes) {
		names = append(names, h.Name)
	}
	if len(names) != mostMatter || !strings.Contains(strings.Join(names, " "), "origin-3") {
		t.Errorf("%v", names)
	}
}

// An address that two hosts have leads to one of them, and nobody knows to which.
func TestAddressesThatAreAHostsAlone(t *testing.T) {
	s := &store{}
	for name, at := range map[string]string{"a": "10.0.0.1", "b": "10.0.0.2"} {
		s.host(name, "", at, time.Second)
		s.add("snag_host_address", name, 1, "address", "172.17.0.1")
		s.add("snag_host_address", name, 1, "address", "fd00::"+name)
	}
	_, _, f := told(t, s, "")
	if err := f.Locate(t.Context(), s, []*Host{f.Hosts["a"], f.Hosts["b"]}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.Addresses(f.Hosts["a"]), " "); got != "10.0.0.1 fd00::a" {
		t.Error(got)
	}
}

// Clocks five minutes apart: what such a host sent is read at the time that its clock shows, and it is neither gone nor
// unknown.
func TestClocksFiveMinutesApart(t *testing.T) {
	for name, by := range map[string]time.Duration{"ahead of": 5 * time.Minute, "behind": -5 * time.Minute, "a little behind": -time.Second} {
		s := storm()
		s.ahead = map[string]time.Duration{"origin-3": by, "edge-2": by}
		for i, x := range s.all {
			if by := s.ahead[x.Labels["instance"]]; by != 0 {
				switch x.Labels["__name__"] {
				case "seen", "snag_incident_begin_timestamp_seconds":
					s.all[i].Value += by.Seconds()
				}
			}
		}
		s.add("snag_clock_ahead_seconds", "origin-3", by.Seconds())
		s.add("snag_clock_ahead_seconds", "edge-2", by.Seconds())
		s.add("snag_clock_ahead_seconds", "edge-1", 0.02)
		text, causes, f := told(t, s, "")
		if len(causes) != 1 || causes[0].Host != "origin-3" || causes[0].Suspect != "runtime-pause" || strings.Contains(text, "not seen") {
			t.Errorf("%s: %+v", name, causes)
		}
		if far := strings.Contains(text, "clock      origin-3: its clock is about 300 s "+name+" the store's"); far != (by.Abs() > farOff) {
			t.Errorf("%s: its clock is named: %t", name, far)
		}
		if got := f.Hosts["origin-3"]; got.Gone || now.Sub(got.Since).Round(time.Minute) != 5*time.Minute {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
