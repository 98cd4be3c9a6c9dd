package actor

import (
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

// seen is the longest time without a new picture, and how many were shown, of frames
// that come 40 ms apart, each at the time that came says.
func seen(s *screen, length time.Duration, came func(stamp time.Duration) time.Duration) (still time.Duration, shown int) {
	begin := time.Unix(1000, 0)
	last, next := time.Duration(-1), time.Duration(0)
	for at := time.Duration(0); at < length; at += 20 * ms {
		for next < length && came(next) <= at {
			s.take(next)
			next += 40 * ms
		}
		if n := s.show(begin.Add(at)); n > 0 {
			if last >= 0 {
				still = max(still, at-last)
			}
			last, shown = at, shown+n
		}
	}
	return still, shown
}

func TestScreen(t *testing.T) {
	stop := func(d time.Duration) func(time.Duration) time.Duration {
		return func(stamp time.Duration) time.Duration {
			if stamp > 3*time.Second && stamp < 3*time.Second+d {
				return 3*time.Second + d
			}
			return stamp
		}
	}
	for _, c := range []struct {
		name        string
		came        func(time.Duration) time.Duration
		least, most time.Duration
	}{
		{"at their pace", func(s time.Duration) time.Duration { return s }, 0, 60 * ms},
		{"a stop that the buffer covers", stop(300 * ms), 0, 80 * ms},
		{"a stop", stop(2 * time.Second), 1400 * ms, 1700 * ms},
		{"a fifth too slow", func(s time.Duration) time.Duration { return s * 5 / 4 }, 500 * ms, 800 * ms},
	} {
		still, shown := seen(newScreen(500*ms), 10*time.Second, c.came)
		if still < c.least || still > c.most || shown < 100 {
			t.Errorf("%s: the picture stopped for %v, %d frames shown; want %v to %v", c.name, still, shown, c.least, c.most)
		}
	}
}

func TestScreenOfAnotherStream(t *testing.T) {
	s := newScreen(100 * ms)
	now := time.Unix(1000, 0)
	for _, from := range []time.Duration{time.Hour, 0} { // the second begins anew
		for i := range 10 {
			s.take(from + time.Duration(i)*40*ms)
		}
		shown := 0
		for range 20 {
			now = now.Add(40 * ms)
			shown += s.show(now)
		}
		if shown != 10 {
			t.Errorf("%d of 10 frames from %v on were shown", shown, from)
		}
	}
}

func TestFrames(t *testing.T) {
	var got []time.Duration
	printed := "#software: Lavf\n#tb 0: 1/90000\n#dimensions 0: 320x180\n0,      90000,      90000,     3600,     5000, 0x1\n1, 5, 5, 1, 1, 0x2\n0,  93600, 93600, 3600, 12, 0x3\n"
	err := frames(strings.NewReader(printed), func(d time.Duration) { got = append(got, d.Round(ms)) })
	if err != nil || len(got) != 2 || got[0] != time.Second || got[1] != 1040*ms {
		t.Errorf("%v, %v", got, err)
	}
	if err := frames(strings.NewReader("0, x, 1\n"), func(time.Duration) {}); err == nil {
		t.Error("a time stamp that is not a number was taken")
	}
}
