package recorded

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/load"
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

func plan(t *testing.T, url string) load.Plan {
	t.Helper()
	to, err := load.ParseTarget(url, load.Request{})
	if err != nil {
		t.Fatal(err)
	}
	return load.Plan{Target: to, Rate: 100, Conns: 2, For: 1500 * time.Millisecond, Timeout: time.Second, Options: load.SocketOptions{CPU: -1}}
}

func TestARunIsWritten(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	k := &kept{}
	to := Place{Sink: k, Netns: 7, Clock: func(t time.Time) recording.Time { return recording.Time(t.UnixNano()) }}
	began := recording.Time(time.Now().UnixNano())
	r, err := to.Record(context.Background(), plan(t, server.URL+"/?key=secret"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Loads) != 1 || len(k.LoadSeconds) < 2 || len(k.Coverage) != 1 || k.Coverage[0].Probe != recording.MeasureLoad {
		t.Fatalf("%d loads, %d seconds, coverage %+v", len(k.Loads), len(k.LoadSeconds), k.Coverage)
	}
	row, sum := k.Loads[0], recording.LoadSecond{}
	for _, s := range k.LoadSeconds {
		sum.Asked, sum.Sent, sum.Answered, sum.Answer = sum.Asked+s.Asked, sum.Sent+s.Sent, sum.Answered+s.Answered, sum.Answer+s.Answer
	}
	if row.Asked != 150 || sum.Asked != row.Asked || sum.Sent != row.Sent || sum.Answered != uint64(r.Done) || row.Answered != uint64(r.Done) {
		t.Errorf("seconds %+v, the whole %+v", sum, row)
	}
	mean := row.SinceSent.Mean
	if d := sum.Answer/float64(row.Answered) - mean; d > 0.01*mean || d < -0.01*mean || row.Parts.Answer == 0 || row.EmptyServer != nil {
		t.Errorf("since sent %.6f s, by the seconds %.6f", mean, sum.Answer/float64(row.Answered))
	}
	if row.Remote != strings.TrimPrefix(server.URL, "http://") || row.Local != "127.0.0.1" || len(row.LocalPorts) != 2 || row.Netns != 7 ||
		row.T < began || row.End.Sub(row.T) != 1500*time.Millisecond || k.LoadSeconds[1].T.Sub(row.T) != time.Second {
		t.Errorf("%+v", row)
	}
	b, err := json.Marshal(k.Loads)
	if err != nil || strings.Contains(string(b), "secret") {
		t.Errorf("%s, %v", b, err)
	}
}

// A load that could not run has a coverage that says why, and no figures.
func TestARunThatFails(t *testing.T) {
	k := &kept{}
	to := Place{Sink: k, Clock: func(time.Time) recording.Time { return 0 }}
	if _, err := to.Record(context.Background(), plan(t, "http://127.0.0.1:1/"), nil); err == nil {
		t.Fatal("somebody answers at port 1")
	}
	if c, ok := k.Measured(recording.MeasureLoad); ok || c.State != recording.CoverageFailed || !strings.Contains(c.Why, "connection refused") || len(k.Loads) != 0 {
		t.Errorf("%+v, %d loads", c, len(k.Loads))
	}
}
