package livepage

import (
	"testing"

	"snag/probes/streams/figures"
	"snag/probes/streams/watch"
	"snag/report/page/streams"
)

// A stream that is down has no figures of the present, whatever it had in its last second;
// a freeze is one, and counts nothing that was not measured.
func TestRowsHaveWhatIsMeasuredNow(t *testing.T) {
	of := func(state watch.State) streams.Row {
		s := figures.Second{GOP: figures.GOP{Frames: 50, Seconds: 2}, Drift: figures.Value{V: 0.1, OK: true}, Total: figures.Total{Connected: 1, Frozen: 4.04}}
		s.Video.FPS = figures.Value{V: 0, OK: true}
		return rowOf(&watch.Row{State: state, Figure: true, Second: s, Freezes: 2})
	}
	for _, state := range []watch.State{watch.Down, watch.Refused, watch.NoAnswer, watch.Connecting} {
		if r := of(state); r.FPS != nil || r.GOP != nil || r.Drift != nil || *r.Frozen != 4 || *r.Freezes != 2 {
			t.Errorf("%s: %+v", state, r)
		}
	}
	if r := of(watch.Frozen); r.FPS == nil || *r.FPS != 0 || *r.GOP != 2 || r.Skew != nil || r.Kbps != nil {
		t.Errorf("frozen: %+v", r)
	}
}

// The states of the page are the watch's, in its order.
func TestStatesAreTheWatchs(t *testing.T) {
	if n := int(watch.States); n != int(streams.OK)+1 {
		t.Fatalf("%d states of the watch, %d of the page", n, int(streams.OK)+1)
	}
	for s := range watch.States {
		if page := streams.State(s); page.Sick() != s.Sick() {
			t.Errorf("%s and %s", s, page)
		}
	}
	for a, b := range map[watch.State]streams.State{watch.NoAudio: streams.NoAudio, watch.Losing: streams.Losing, watch.Over: streams.Ended, watch.Connecting: streams.Asking} {
		if streams.State(a) != b {
			t.Errorf("%s is %s", a, streams.State(a))
		}
	}
}
