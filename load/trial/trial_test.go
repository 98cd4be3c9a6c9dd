package trial

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"snag/internal/netns/netnstest"
	"snag/load"
	"snag/load/elimination"
)

func TestMain(m *testing.M) { netnstest.Main(m) }

func planOf(t *testing.T, url string, r load.Request) Plan {
	t.Helper()
	to, err := load.ParseTarget(url, r)
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	// What is slow takes longer than a busy host's tests delay each other.
	return Plan{URL: url, Request: r, Target: to, Options: load.SocketOptions{NoDelay: &yes, CPU: -1}, Slow: 100 * time.Millisecond, Timeout: time.Second, Within: 40 * time.Second, HighRate: 200}
}

func run(t *testing.T, ctx context.Context, p Plan) *elimination.Measures {
	t.Helper()
	m, err := Run(ctx, p, func(elimination.Experiment) {})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func found(m *elimination.Measures) (out []string) {
	for _, s := range elimination.Judge(m) {
		if s.State == elimination.Found {
			out = append(out, s.Suspect)
		}
	}
	return out
}

// One request is slow, and a request that does nothing is not. What came before the experiment that tells has
// been done, and what comes after it has not.
func TestSlowHandler(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/work" {
			time.Sleep(300 * time.Millisecond)
		}
		_, _ = w.Write([]byte("done"))
	}))
	defer s.Close()
	m := run(t, context.Background(), planOf(t, s.URL+"/work", load.Request{Insecure: true}))
	if got := found(m); len(got) != 1 || got[0] != "handler" {
		t.Errorf("found %v: %+v", got, elimination.Tell(m))
	}
	if m.Null.Asked.P50 < 0.3 || m.Null.Null.P50 > 0.15 || m.TLS.N != handshakesOf || m.Fresh.Whole.N != mostFresh || !m.Local || m.Path != nil || m.Rates != nil {
		t.Errorf("%+v", m)
	}
}

// Nobody listens: that is what is found, and nothing is measured of a service that is not there.
func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	m := run(t, context.Background(), planOf(t, "http://"+l.Addr().String(), load.Request{}))
	if got := found(m); len(got) != 1 || got[0] != "dead-address" || m.Fresh.Failed[string(load.Refused)] != mostFresh {
		t.Errorf("found %v, failed %v", got, m.Fresh.Failed)
	}
	if first := elimination.Tell(m).First; !strings.Contains(first, "refuses connections") {
		t.Error(first)
	}
}

// A service that takes requests and never answers, and one that hangs up.
func TestNoAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		serve func(net.Conn)
		kind  load.Kind
	}{
		"never answers": {func(net.Conn) {}, load.NoAnswer},
		"hangs up":      {func(c net.Conn) { _, _ = c.Read(make([]byte, 999)); c.Close() }, load.Closed},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close() // at the end, not before
				go c.serve(conn)
			}
		}()
		p := planOf(t, "http://"+l.Addr().String(), load.Request{})
		got, err := once(context.Background(), netip.MustParseAddrPort(l.Addr().String()), p.Target, p.Options, 200*time.Millisecond)
		if err == nil || kindOf(got, err) != string(c.kind) || got.connect == 0 || got.info == nil {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
}

// It ends soon after it is interrupted, and reports what it did not do.
func TestInterrupted(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	begun := time.Now()
	m := run(t, ctx, planOf(t, s.URL, load.Request{}))
	if took := time.Since(begun); took > 4*time.Second || len(m.Done) != 0 || m.Missing[elimination.TheRequest] != "it was interrupted" {
		t.Errorf("after %v: done %v, missing %v", took, m.Done, m.Missing)
	}
	if len(found(m)) > 0 || len(elimination.Tell(m).RuledOut) > 1 { // TCP_NODELAY is set, measured or not
		t.Errorf("%+v", elimination.Tell(m))
	}
}

// The time for all is bounded.
func TestNoTimeLeft(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	p := planOf(t, s.URL, load.Request{})
	p.Within = 3 * time.Second
	m := run(t, context.Background(), p)
	if why := m.Missing[elimination.ManyRates]; !strings.Contains(why, "no time was left of 3s") || m.Rates != nil {
		t.Errorf("missing %v, rates %v", m.Missing, m.Rates)
	}
}

// --here on another host's address would rule out the path by what goes over it.
func TestHereIsThisHost(t *testing.T) {
	p := planOf(t, "http://192.0.2.1/", load.Request{})
	p.Here = true
	if _, err := Run(context.Background(), p, func(elimination.Experiment) {}); err == nil || !strings.Contains(err.Error(), "is not an address of this host") {
		t.Errorf("%v", err)
	}
}

func TestEchoAndRoute(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("ICMP echo needs root here")
	}
	for _, a := range []string{"127.0.0.1", "::1"} {
		to := netip.MustParseAddr(a)
		e, err := echo(context.Background(), to, 5, time.Millisecond)
		if err != nil || e.Sent != 5 || e.Lost != 0 || e.P50 <= 0 || e.P50 > 0.5 {
			t.Errorf("%s: %+v, %v", a, e, err)
		}
		l, err := net.Listen("tcp", net.JoinHostPort(a, "0"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for _, tcp := range []bool{false, true} {
			hops, err := route(context.Background(), netip.MustParseAddrPort(l.Addr().String()), 3, tcp)
			if err != nil || len(hops) != 1 || !hops[0].End || hops[0].Address != a || hops[0].Sent < 3 || hops[0].Answered == 0 || hops[0].Least > hops[0].RTT || hops[0].RTT > hops[0].Most {
				t.Errorf("%s, TCP %v: %+v, %v", a, tcp, hops, err)
			}
		}
	}
}

// A probe that is lost is counted, and a hop that is not the last one known is none.
func TestHops(t *testing.T) {
	t.Parallel()
	first := []*probe{{ttl: 1, from: "10.0.0.1", took: 0.003}, {ttl: 2}, {ttl: 3, from: "10.0.0.3", took: 0.02, reached: true}, {ttl: 4, from: "10.0.0.3", took: 0.02, reached: true}}
	hops := known(addRound(nil, first))
	if len(hops) != 3 {
		t.Fatalf("%+v", hops)
	}
	if w := within(hops); w != roundEach || within(nil) != hopWithin {
		t.Errorf("%v", w)
	}
	hops = addRound(hops, []*probe{{ttl: 1}, {ttl: 2, from: "10.0.0.2", took: 0.01}, {ttl: 3, from: "10.0.0.3", took: 0.04, reached: true}})
	hops = summed(addRound(hops, []*probe{{ttl: 1, from: "10.0.0.9", took: 0.001}, {ttl: 2}, {ttl: 3, from: "10.0.0.3", took: 0.03, reached: true}}))
	for i, want := range []elimination.Hop{
		{TTL: 1, Address: "10.0.0.1", Sent: 3, Answered: 2, RTT: 0.003, Least: 0.001, Most: 0.003},
		{TTL: 2, Address: "10.0.0.2", Sent: 3, Answered: 1, RTT: 0.01, Least: 0.01, Most: 0.01},
		{TTL: 3, Address: "10.0.0.3", Sent: 3, Answered: 3, RTT: 0.03, Least: 0.02, Most: 0.04, End: true},
	} {
		if !reflect.DeepEqual(hops[i], want) {
			t.Errorf("%+v, want %+v", hops[i], want)
		}
	}
	if gone := known(addRound(nil, []*probe{{ttl: 1}, {ttl: 2}})); len(gone) != 0 {
		t.Errorf("nobody answered: %+v", gone)
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	all := []time.Duration{4 * time.Second, time.Second, 3 * time.Second, 2 * time.Second}
	if quantile(all, 0) != 1 || quantile(all, 50) != 2 || quantile(all, 90) != 4 || quantile(all, 100) != 4 || quantile(nil, 50) != 0 {
		t.Error(quantile(all, 50), quantile(all, 90))
	}
}

// A service that closes each connection after its answer has no kept ones: what was not measured is not 0.
func TestConnectionsThatAreClosed(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") }))
	defer s.Close()
	m := run(t, context.Background(), planOf(t, s.URL, load.Request{}))
	if len(found(m)) > 0 || m.Null != nil && (m.Null.Asked.N == 0 || m.Null.Null.N == 0) {
		t.Errorf("found %v; %+v", found(m), m.Null)
	}
	if story := elimination.Tell(m); strings.Contains(story.First, " 0 µs") || strings.Contains(story.First, " 0 s") {
		t.Error(story.First)
	}
}
