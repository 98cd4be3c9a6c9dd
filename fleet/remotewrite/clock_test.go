package remotewrite

import (
	"math"
	"net/http"
	"testing"
	"time"
)

// asked is what one answer of a store says, whose clock is behind this host's by ahead.
func asked(c *clock, at time.Time, ahead, takes time.Duration) {
	store := at.Add(takes/2 - ahead)
	c.answered(store.UTC().Format(http.TimeFormat), at, at.Add(takes))
}

func TestClock(t *testing.T) {
	begin := time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)
	for _, ahead := range []time.Duration{0, 300 * time.Millisecond, -2 * time.Second, 5 * time.Minute, -5 * time.Minute} {
		c := &clock{}
		if got := c.measured(begin); got != nil {
			t.Fatalf("without an answer: %v", got)
		}
		now := begin
		for range 30 { // as the recorder sends: every 15 s and a bit
			now = now.Add(15*time.Second + 70*time.Millisecond)
			asked(c, now, ahead, 8*time.Millisecond)
		}
		m := c.measured(now)
		if off := math.Abs(m[0].Value - ahead.Seconds()); off > m[1].Value || m[1].Value > 0.12 {
			t.Errorf("%s ahead: measured %.3f ± %.3f s", ahead, m[0].Value, m[1].Value)
		}
	}
}

// One answer shows it to about half a second; a clock that is set is measured again from there on; old
// answers no longer count.
func TestClockThatIsSet(t *testing.T) {
	c := &clock{}
	now := time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)
	asked(c, now, time.Minute, 0)
	if m := c.measured(now); math.Abs(m[1].Value-0.5) > 0.001 {
		t.Errorf("± %.3f s of one answer, want 0.5", m[1].Value)
	}
	for i := range 10 {
		asked(c, now.Add(time.Duration(i)*time.Second), time.Minute, 0)
	}
	now = now.Add(20 * time.Second)
	asked(c, now, -time.Second, 0)
	if m := c.measured(now); math.Abs(m[0].Value+1) > m[1].Value+0.001 {
		t.Errorf("after it was set: %.3f ± %.3f s, want -1", m[0].Value, m[1].Value)
	}
	asked(c, now.Add(time.Hour), -time.Second, 0)
	if len(c.bounds) != 1 {
		t.Errorf("%d answers count after an hour", len(c.bounds))
	}
	c.answered("yesterday", now, now)
	c.answered("", now, now)
	if len(c.bounds) != 1 {
		t.Error("an answer without a Date counts")
	}
}
