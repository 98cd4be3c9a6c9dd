package remotewrite

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"snag/recording"
)

// An hour without the store, with the most series that are sent by default: 240 requests wait on the disk, none is
// lost, and all of them are sent in their order when the store is back.
func TestAnHourWithoutTheStore(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	random := rand.New(rand.NewPCG(1, 2))
	parties := make([]Measured, DefaultSeries/3)
	for i := range parties {
		parties[i] = Measured{Name: "snag_service_answer_seconds_bucket", Labels: recording.Labels{"process": fmt.Sprintf("service-%d", i/20), "listener": "0.0.0.0:8080", "le": fmt.Sprint(i % 20)}}
	}
	s, n := aSender(t, st.URL, func(o *Options) {
		o.Series, o.Size, o.Every = DefaultSeries, DefaultSize, time.Hour // this test collects itself
		o.More = func() []Measured {
			for i := range parties {
				parties[i].Value += random.Float64()
			}
			return parties
		}
	})
	begin := time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)
	const requests = int(time.Hour / DefaultEvery)
	for k := range requests {
		now := begin.Add(time.Duration(k) * DefaultEvery)
		for i := range DefaultSeries - DefaultSeries/3 {
			s.Sample(recording.Time(now.UnixNano()), fmt.Sprintf("node_netstat_TcpExt_%d", i/2), recording.Labels{"netns": fmt.Sprint(4026531840 + i%2)}, float64(k)*random.Float64())
		}
		s.collect(now)
	}
	all, size, err := s.box.list()
	if c := s.Counts(); err != nil || len(all) != requests || c.Lost != 0 || c.LeftOut != 0 || size > DefaultSize/2 {
		t.Fatalf("%d of %d requests wait, %d MB: %+v, %v", len(all), requests, size>>20, c, err)
	}
	t.Logf("an hour of %d series: %.1f MB of %d MB", DefaultSeries, float64(size)/(1<<20), DefaultSize>>20)
	var kept [][]byte
	for _, name := range all {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, b)
	}
	if p := decoded(t, kept[requests-1]); len(p) != DefaultSeries || p[0].ms != begin.Add(time.Duration(requests-1)*DefaultEvery).UnixMilli() {
		t.Errorf("the last has %d series, at %d ms", len(p), p[0].ms)
	}
	running(t, s)
	await(t, "that all is sent", func() bool { return len(st.requests()) >= requests })
	for i, b := range st.requests()[:requests] {
		if !bytes.Equal(b, kept[i]) {
			t.Fatalf("request %d is not the one that was kept", i+1)
		}
	}
	if said := n.said(); len(said) > 0 {
		t.Errorf("%q", said)
	}
}
