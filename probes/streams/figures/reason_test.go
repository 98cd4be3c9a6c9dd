package figures

import (
	"testing"

	"snag/probes/streams/stream"
	"snag/recording"
)

// What the transport knows of why no frames come goes with the freeze, also what it
// finds while that stands, and with no later one.
func TestAFreezeHasItsReason(t *testing.T) {
	m := New(Options{Asked: start})
	m.Published(start, "", "")
	var told []Event
	for now := start; now < start+40*second; now += second / 5 {
		at := now - start
		switch at {
		case 2 * second:
			m.Reason("one")
		case 5 * second:
			m.Reason("two")
		case 12 * second:
			m.Reason("")
		}
		if at < 2*second || at > 10*second && at < 20*second || at > 30*second {
			m.Frame(stream.Frame{Key: true, Arrival: now, DTS: now, Size: 5000})
		}
		m.Tick(now)
		told = m.Events(told)
	}
	var why []string
	for _, e := range told {
		if e.Kind == recording.EventStreamFreeze && e.Phase != Updated {
			why = append(why, e.Phase.String()+" "+e.Why)
		}
	}
	want := []string{"begun one", "ended two", "begun ", "ended "}
	if len(why) != 4 || why[0] != want[0] || why[1] != want[1] || why[2] != want[2] || why[3] != want[3] {
		t.Errorf("told %q, want %q", why, want)
	}
	m.Reason("of the connection before")
	m.Asked(start + 40*second)
	m.Published(start+41*second, "", "")
	m.Tick(start + 60*second)
	for _, e := range m.Events(nil) {
		if e.Why != "" {
			t.Errorf("told %+v", e)
		}
	}
}
