package pages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"snag/fleet/fetch"
	"snag/fleet/hosts"
	"snag/fleet/prom"
)

// aStore has hosts, each with a way to say that it is affected, and counts what it is asked.
type aStore struct {
	mu      sync.Mutex
	reads   []time.Time // when it was asked for the hosts
	ranges  int         // for the timeline
	at      int         // a time now
	most    int
	takes   time.Duration
	err     error
	rangeIt error
	gone    bool
}

func (s *aStore) read(ctx context.Context, at time.Time) (*hosts.Fleet, error) {
	s.mu.Lock()
	s.reads = append(s.reads, at)
	s.at++
	s.most = max(s.most, s.at)
	takes, err := s.takes, s.err
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.at--
		s.mu.Unlock()
	}()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return hosts.Read(ctx, s, "", at)
}

// Query has a host that is affected and another one.
func (s *aStore) Query(_ context.Context, q string, at time.Time) (a prom.Answer, err error) {
	add := func(host string, value float64, labels ...string) {
		l := map[string]string{"instance": host}
		for i := 0; i+1 < len(labels); i += 2 {
			l[labels[i]] = labels[i+1]
		}
		a.Samples = append(a.Samples, prom.Sample{Labels: l, Value: value, At: at})
	}
	switch {
	case strings.Contains(q, "timestamp(snag_record_up)"):
		add("origin-3", float64(at.Unix()))
		if !s.gone {
			add("edge-1", float64(at.Unix()))
		}
	case strings.Contains(q, "last_over_time(snag_record_up"):
		add("origin-3", 1)
		add("edge-1", 1)
	case strings.HasPrefix(q, "{__name__"):
		add("origin-3", 1, "__name__", "snag_record_up")
		add("edge-1", 1, "__name__", "snag_record_up")
		if !s.gone {
			add("origin-3", float64(at.Unix()-300), "__name__", "snag_incident_begin_timestamp_seconds")
			add("origin-3", 1, "__name__", "snag_incident_culprit", "suspect", "runtime-pause", "subject", "java[77] <b>")
		}
	case strings.Contains(q, "snag_host_address"):
		add("origin-3", 1, "address", "10.0.0.3")
	}
	return a, nil
}

func (s *aStore) QueryRange(_ context.Context, q string, from, to time.Time, _ time.Duration) (r prom.Range, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ranges++
	if strings.Contains(q, "snag_incident_begin") {
		r.Series = []prom.Series{{Labels: map[string]string{"instance": "origin-3"}, Points: []prom.Point{{At: from.Add(time.Hour).UnixMilli(), Value: float64(from.Unix())}}}}
	}
	return r, s.rangeIt
}

func (s *aStore) asked(t *testing.T) *asked {
	t.Helper()
	links, err := fetch.ParseLinks("https://{address}:9849")
	if err != nil {
		t.Fatal(err)
	}
	return &asked{Fleet: Fleet{Store: "http://p:9090", Read: s.read, Of: s, Links: links}}
}

// However many read, the store is asked once in ten seconds, one time after the other, and never while nobody reads.
func TestTheStoreIsAskedForAllReadersTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &aStore{takes: time.Second}
		a := s.asked(t)
		var readers sync.WaitGroup
		begin := time.Now()
		for range 50 {
			readers.Go(func() {
				for time.Since(begin) < 95*time.Second {
					if d := a.state(t.Context()); d.Failed != "" || d.Standing != hosts.Found || time.Since(d.At) > 12*time.Second {
						t.Errorf("%+v", d)
					}
					time.Sleep(700 * time.Millisecond)
				}
			})
		}
		readers.Wait()
		if n := len(s.reads); n < 7 || n > 10 || s.most != 1 {
			t.Errorf("asked %d times, %d at a time", n, s.most)
		}
		if s.ranges < 3 || s.ranges > 6 { // three queries for each timeline
			t.Errorf("%d queries for the timeline", s.ranges)
		}
		before := len(s.reads)
		time.Sleep(time.Hour)
		if len(s.reads) != before {
			t.Error("the store is asked while nobody reads")
		}
		d := a.state(t.Context())
		if d.Failed != "" || len(s.reads) != before+1 || d.Links["origin-3"] != "https://10.0.0.3:9849" || len(d.Timeline.Rows) != 1 {
			t.Errorf("%+v", d)
		}
	})
}

// A store that fails, or takes long, is named with the time of what is still shown, and is never "no host affected".
func TestAStoreWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &aStore{err: errors.New("ask http://p:9090: connection refused")}
		a := s.asked(t)
		d := a.state(t.Context())
		if d.Document != nil || d.Standing != hosts.NotSeen || !strings.Contains(d.Failed, "connection refused") {
			t.Errorf("before its first answer: %+v", d)
		}
		b, err := json.Marshal(d)
		if err != nil || !strings.Contains(string(b), `"standing":"not seen"`) || strings.Contains(string(b), `"at"`) {
			t.Errorf("%s %v", b, err)
		}
		s.err = nil
		time.Sleep(askEvery)
		good := a.state(t.Context())
		if good.Failed != "" || good.Standing != hosts.Found {
			t.Errorf("%+v", good)
		}
		s.err = errors.New("connection reset")
		time.Sleep(askEvery)
		first := a.state(t.Context())
		time.Sleep(askEvery)
		d = a.state(t.Context())
		if d.Standing != hosts.NotSeen || !d.At.Equal(good.At) || !d.Since.Equal(first.Since) || len(d.Causes) != 1 || d.Timeline == nil {
			t.Errorf("what was known: %+v", d)
		}
		s.err, s.takes = nil, time.Hour
		time.Sleep(askEvery)
		begin := time.Now()
		d = a.state(t.Context())
		if time.Since(begin) != patience || d.Standing != hosts.NotSeen {
			t.Errorf("after %s: %+v", time.Since(begin), d)
		}
		time.Sleep(askTime)
		if d = a.shown(time.Now()); d.Failed != "the store gave no answer within 30s" {
			t.Errorf("%+v", d)
		}
		s.takes = 0
		time.Sleep(askEvery)
		if d = a.state(t.Context()); d.Failed != "" || d.Standing != hosts.Found {
			t.Errorf("%+v", d)
		}
	})
}

// What was known is not of now after half a minute, while the store takes its time.
func TestASlowStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &aStore{}
		a := s.asked(t)
		a.state(t.Context())
		s.takes = 20 * time.Second
		time.Sleep(askEvery)
		if d := a.state(t.Context()); d.Failed != "" { // 18 s old
			t.Errorf("%+v", d)
		}
		time.Sleep(5 * time.Minute)
		if d := a.state(t.Context()); !strings.Contains(d.Failed, "8s ago and has not answered") || d.Standing != hosts.NotSeen {
			t.Errorf("%+v", d)
		}
		time.Sleep(time.Minute)
		if d := a.shown(time.Now()); d.Document == nil {
			t.Errorf("%+v", d)
		}
	})
}

// Without a timeline all else is there; what was there of it stays, and it is said that it is old.
func TestATimelineThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &aStore{rangeIt: errors.New("too many samples")}
		a := s.asked(t)
		if d := a.state(t.Context()); d.Standing != hosts.Found || d.Timeline != nil || d.Old != "too many samples" {
			t.Errorf("%+v", d)
		}
		s.rangeIt = nil
		time.Sleep(askEvery)
		if d := a.state(t.Context()); d.Timeline == nil || d.Old != "" {
			t.Errorf("%+v", d)
		}
		s.rangeIt = errors.New("too many samples")
		time.Sleep(timelineEvery)
		if d := a.state(t.Context()); d.Timeline == nil || d.Old == "" {
			t.Errorf("%+v", d)
		}
	})
}

// A host that has gone is no reason to say that all is well.
func TestAHostThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &aStore{gone: true}
		d := s.asked(t).state(t.Context())
		var names []string
		for _, h := range d.Hosts {
			names = append(names, h.Name+" "+h.State)
		}
		if text := fmt.Sprint(names); d.Standing != hosts.NotSeen || text != "[edge-1 gone origin-3 ok]" {
			t.Errorf("%s: %s", d.Standing, text)
		}
	})
}
