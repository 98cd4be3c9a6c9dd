package report

import (
	"testing"
	"time"

	"snag/recording"
)

func TestSinceWhen(t *testing.T) {
	began := recording.Time(time.Date(2026, 11, 21, 11, 55, 3, 0, time.UTC).UnixNano())
	for _, c := range []struct {
		after time.Duration
		files bool
		want  string
	}{
		{time.Second, false, "already so when the recording began at 11:55:03 UTC"},
		{time.Second, true, "already so where the files begin, at 11:55:03 UTC"},
		{4 * time.Second, false, "since 11:55:07 UTC"},
	} {
		p := &page{began: began, files: c.files}
		if got := p.since(began.Add(c.after)); got != c.want {
			t.Errorf("%s: %q, want %q", c.after, got, c.want)
		}
	}
}
