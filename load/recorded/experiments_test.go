package recorded

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/internal/netns/netnstest"
	"snag/load"
	"snag/load/elimination"
	"snag/load/trial"
	"snag/recording"
)

func TestMain(m *testing.M) { netnstest.Main(m) }

func trialOf(t *testing.T, url string) trial.Plan {
	t.Helper()
	to, err := load.ParseTarget(url, load.Request{})
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	return trial.Plan{URL: url, Target: to, Options: load.SocketOptions{NoDelay: &yes, CPU: -1}, Slow: 100 * time.Millisecond, Timeout: time.Second, Within: 40 * time.Second, HighRate: 100}
}

// named are the rows by their experiment.
func named(all []recording.Experiment) map[string]recording.Experiment {
	out := map[string]recording.Experiment{}
	for _, row := range all {
		out[row.Experiment] = row
	}
	return out
}

func suspectOf(row recording.Experiment, id string) (s recording.ExperimentSuspect) {
	if i := slices.IndexFunc(row.Suspects, func(s recording.ExperimentSuspect) bool { return s.Suspect == id }); i >= 0 {
		return row.Suspects[i]
	}
	return s
}

// Each experiment is a row with its time, its number and the suspects that it struck off. It stops at the slow
// handler: what comes after is written as not done, and its suspects as not measured.
func TestExperimentsAreWritten(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/work" {
			time.Sleep(200 * time.Millisecond)
		}
	}))
	defer server.Close()
	k := &kept{}
	to := Place{Sink: k, Netns: 7, Clock: func(t time.Time) recording.Time { return recording.Time(t.UnixNano()) }}
	began := recording.Time(time.Now().UnixNano())
	if _, err := to.Eliminate(context.Background(), trialOf(t, server.URL+"/work?key=secret"), func(elimination.Experiment) {}); err != nil {
		t.Fatal(err)
	}
	rows := named(k.Experiments)
	asked, connect, null, rates := rows["request"], rows["connect"], rows["null"], rows["rates"]
	if asked.Number == nil || *asked.Number < 0.2 || asked.Unit != "s" || !asked.Slow || asked.Tried < 3 || asked.Netns != 7 || asked.T < began ||
		asked.End <= asked.T || connect.T < asked.End || "http://"+asked.Remote != server.URL || strings.Contains(asked.Target, "secret") {
		t.Errorf("%+v", asked)
	}
	if s := suspectOf(connect, "listen-queue"); s.State != recording.StruckOff || s.Cause != "listen-overflow" || s.Why == "" || s.Proves {
		t.Errorf("%+v", s)
	}
	if s := suspectOf(null, "handler"); s.State != recording.FoundBy || s.Cost == nil || *s.Cost < 0.15 || !slices.Contains(s.Clears, "busy-thread") {
		t.Errorf("%+v", s)
	}
	if s := suspectOf(rates, "pool"); s.State != recording.NotMeasured || !strings.Contains(rates.NotDone, "earlier experiment found") || rates.Number != nil {
		t.Errorf("%+v, %+v", s, rates)
	}
	if row := rows["resolve"]; row.NotDone != nothingToLookUp {
		t.Errorf("there was no name to look up: %+v", row)
	}
	if c, ok := k.Measured(recording.MeasureEliminate); !ok || c.State != recording.CoveragePartial {
		t.Errorf("%+v", c)
	}
}

// A target that cannot be asked leaves a coverage that says why, and no rows.
func TestExperimentsThatFail(t *testing.T) {
	k := &kept{}
	to := Place{Sink: k, Clock: func(time.Time) recording.Time { return 0 }}
	plan := trialOf(t, "http://192.0.2.1/")
	plan.Here = true
	if _, err := to.Eliminate(context.Background(), plan, func(elimination.Experiment) {}); err == nil {
		t.Fatal("192.0.2.1 is an address of this host")
	}
	if c, ok := k.Measured(recording.MeasureEliminate); ok || c.State != recording.CoverageFailed || !strings.Contains(c.Why, "not an address of this host") || len(k.Experiments) != 0 {
		t.Errorf("%+v, %d rows", c, len(k.Experiments))
	}
}

// What was measured on the server has the times of there.
func TestMeasuresOfTheServer(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 0)
	m := &elimination.Measures{Version: 1, Network: "tcp", Slow: 0.02, Kept: &elimination.Asked{Times: elimination.Times{N: 40, P50: 0.1}},
		Server: &elimination.Measures{Version: 1, Here: true, Kept: &elimination.Asked{Times: elimination.Times{N: 40, P50: 0.001}}, When: map[string]elimination.Span{"request": {Begin: at, End: at.Add(time.Second)}}}}
	rows := named(Experiments(m, time.Now(), Place{Clock: func(t time.Time) recording.Time { return recording.Time(t.UnixNano()) }}))
	if row := rows[elimination.OnServer]; row.T != 1000e9 || row.End != 1001e9 || suspectOf(row, "service").State != recording.StruckOff {
		t.Errorf("%+v", row)
	}
}
