package loading

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/internal/netns"
	"snag/load"
	"snag/load/trial"
	"snag/probes/probe"
	"snag/recording"
)

// kept is a recording in memory.
type kept struct {
	mu sync.Mutex
	recording.Recording
}

func (k *kept) Sample(recording.Time, string, recording.Labels, float64) {}

func (k *kept) Append(row recording.Row) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.Add(row)
}

func ask(t *testing.T, url string, during time.Duration) (*kept, *probe.Env, []string) {
	t.Helper()
	to, err := load.ParseTarget(url, load.Request{})
	if err != nil {
		t.Fatal(err)
	}
	own, err := netns.IDOf("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	k, noticed := &kept{}, []string{}
	env := &probe.Env{Proc: "/proc", Anchor: probe.NewAnchor(), Netns: own, Sink: k, Watch: probe.NewWatch(4), Notice: func(text string) { noticed = append(noticed, text) }}
	p := Probe(load.Plan{Target: to, Rate: 50, Conns: 2, For: time.Minute, Timeout: time.Second, Options: load.SocketOptions{CPU: -1}}, nil)
	r, err := p.Start(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(during)
	r.Stop()
	return k, env, noticed
}

// The load lasts until the probe is ended, and who answers it is watched from the start on.
func TestALoadLastsAsLongAsTheRecording(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	k, env, _ := ask(t, server.URL, 1200*time.Millisecond)
	if len(k.Loads) != 1 || len(k.LoadSeconds) < 2 {
		t.Fatalf("%d loads, %d seconds, %+v", len(k.Loads), len(k.LoadSeconds), k.Coverage)
	}
	row := k.Loads[0]
	if lasted := row.End.Sub(row.T).Seconds(); lasted < 1 || lasted > 2 || row.Answered < 45 || row.Netns != env.Netns {
		t.Errorf("%+v", row)
	}
	if ago := env.Now().Sub(row.T).Seconds(); ago < 1.1 || ago > 5 {
		t.Errorf("it began %.2f s ago by the recording's clock", ago)
	}
	if !env.Watch.Has(os.Getpid()) {
		t.Error("the server is not watched")
	}
}

// One that fails is noted, and leaves a coverage that says why.
func TestALoadThatFails(t *testing.T) {
	k, _, noticed := ask(t, "http://127.0.0.1:1/", 300*time.Millisecond)
	if c, _ := k.Measured(recording.MeasureLoad); c.State != recording.CoverageFailed || !slices.ContainsFunc(noticed, func(s string) bool { return strings.Contains(s, "the load failed: ") }) {
		t.Errorf("%+v, noticed %q", k.Coverage, noticed)
	}
}

// One that is ended before it has its connections is no failure to tell of while the host is recorded.
func TestALoadThatIsEndedAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	k := &kept{}
	to, err := load.ParseTarget("http://127.0.0.1:1/", load.Request{})
	if err != nil {
		t.Fatal(err)
	}
	noticed := false
	env := &probe.Env{Proc: "/proc", Anchor: probe.NewAnchor(), Sink: k, Watch: probe.NewWatch(4), Notice: func(string) { noticed = true }}
	start(ctx, env, load.Plan{Target: to, Rate: 50, Conns: 2, For: time.Minute, Timeout: time.Second, Options: load.SocketOptions{CPU: -1}}, nil).Stop()
	if c, _ := k.Measured(recording.MeasureLoad); noticed || c.State != recording.CoverageFailed || !strings.Contains(c.Why, "ended before") {
		t.Errorf("noticed %v, %+v", noticed, c)
	}
}

// Experiments that the recording cuts off are written all the same: what ran with its number, the rest as not done.
func TestExperimentsThatAreCutOff(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	to, err := load.ParseTarget(server.URL, load.Request{})
	if err != nil {
		t.Fatal(err)
	}
	own, err := netns.IDOf("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	plan := trial.Plan{URL: server.URL, Target: to, Options: load.SocketOptions{NoDelay: &yes, CPU: -1}, Slow: time.Second, Timeout: time.Second, Within: time.Minute, HighRate: 100}
	k := &kept{}
	env := &probe.Env{Proc: "/proc", Anchor: probe.NewAnchor(), Netns: own, Sink: k, Watch: probe.NewWatch(4), Notice: func(text string) { t.Error(text) }}
	r, err := Eliminating(plan).Start(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Second)
	r.Stop()
	if !env.Watch.Has(os.Getpid()) {
		t.Error("the server is not watched")
	}
	c, ok := k.Measured(recording.MeasureEliminate)
	if len(k.Experiments) < 5 || !ok || c.State != recording.CoveragePartial {
		t.Fatalf("%d rows, %+v", len(k.Experiments), c)
	}
	first, last := k.Experiments[0], k.Experiments[len(k.Experiments)-1]
	if first.NotDone != "" || first.Number == nil || first.Netns != env.Netns || last.NotDone != "it was interrupted" || last.Number != nil {
		t.Errorf("%+v\n%+v", first, last)
	}
	if ago := env.Now().Sub(first.T).Seconds(); ago < 4.5 || ago > 15 {
		t.Errorf("it began %.2f s ago by the recording's clock", ago)
	}
}
