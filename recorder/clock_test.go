package recorder

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

func TestMovedClocks(t *testing.T) {
	t.Parallel()
	const minute = int64(time.Minute)
	for _, tt := range []struct {
		what            string
		wall, boot, run int64 // ns that the clocks went on
		says            string
	}{
		{"a minute", minute, minute, minute, ""},
		{"slewed", minute + 30e6, minute, minute, ""},
		{"set back", 0, minute, minute, "the wall clock was set by -60.000 s"},
		{"suspended", 4 * minute, 4 * minute, minute, "the machine was suspended for 180.0 s, which were not recorded"},
		{"suspended, then set", 5 * minute, 4 * minute, minute, "the machine was suspended for 180.0 s, which were not recorded, and the wall clock was set by +60.000 s"},
	} {
		a := recording.Anchor{Wall: 1e18, Boottime: 7e12, Monotonic: 3e12}
		m := between(a, recording.Anchor{Wall: a.Wall + tt.wall, Boottime: a.Boottime + tt.boot, Monotonic: a.Monotonic + tt.run})
		if m.far() != (tt.says != "") || m.far() && m.Error() != tt.says {
			t.Errorf("%s: %v %q", tt.what, m.far(), m.Error())
		}
	}
}

// A suspend over which the recording's clock went on begins no new session; the journal names it all the same.
func TestASuspendOnARunningClockIsNoted(t *testing.T) {
	t.Parallel()
	var c clock
	c.to(noon)
	var said []string
	w, err := newWriter(t.TempDir(), manifestOf(), c.now, &probe.Rotation{}, func(text string) { said = append(said, text) })
	if err != nil {
		t.Fatal(err)
	}
	host := recording.Subject{Kind: recording.KindHost}
	w.Append(recording.Event{T: second(5), End: second(25), Kind: recording.EventSuspended, Subject: host, Value: 20})
	w.Append(recording.Event{T: second(30), End: second(30), Kind: recording.EventSuspended, Subject: host, Value: 20}) // movedSince sees this one
	c.to(second(40))
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if len(said) != 1 || said[0] != "the machine was suspended for 20.0 s, which were not recorded" {
		t.Errorf("%q", said)
	}
}

// When the clock moves, the incident that goes on ends: the next session has a schedule of its own.
func TestAnIncidentEndsWhenTheClockMoves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var reports []string
	g := newMonitor(Plan{
		Dir: dir, Limits: Limits{Size: 1 << 30}, Note: func(text string) { reports = append(reports, text) },
		Report: func(_ Incident, what string) { reports = append(reports, what) },
		Judge: func(_ context.Context, _ string, _, _ recording.Time, _ []string, out string) (Finding, error) {
			return Finding{Standing: "culprit", Hurt: true}, os.WriteFile(out, []byte("recording"), 0o600)
		},
	})
	g.end(second(1)) // nothing goes on
	for i := range 100 {
		g.second(t.Context(), second(i), notice{why: "it hurts"})
		g.judging.Wait()
	}
	g.end(second(100))
	g.end(second(101))
	if got := strings.Join(reports, " "); got != "begins ends" {
		t.Errorf("reports: %q", got)
	}
	if i, err := (Ring{dir}).Incident(1); err != nil || !i.End.Equal(second(100).Wall()) {
		t.Errorf("%+v, %v", i, err)
	}
}
