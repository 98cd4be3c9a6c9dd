package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestReadProgress(t *testing.T) {
	for _, c := range []struct {
		done, all int64
		speed     float64
		want      string
	}{
		{0, 0, 0, "0 kB read, 0 kB/s"},
		{3e9, 0, 512e6, "3.0 GB read, 512 MB/s"},
		{0, 4e9, 0, "[------------------------]   0 % of 4.0 GB, 0 kB/s"},
		{1e9, 4e9, 500e6, "[######------------------]  25 % of 4.0 GB, 500 MB/s, 6s left"},
		{4e9, 4e9, 500e6, "[########################] 100 % of 4.0 GB, 500 MB/s, 0s left"},
		{5e9, 4e9, 500e6, "[########################] 100 % of 4.0 GB, 500 MB/s, 0s left"},
		{1e6, 400e6, 1e6, "[------------------------]   0 % of 400 MB, 1 MB/s, 6m39s left"},
	} {
		if got := progressText(c.done, c.all, c.speed); got != c.want {
			t.Errorf("%d of %d at %g:\n%s\n%s", c.done, c.all, c.speed, got, c.want)
		}
	}
}

// Nothing is said of what takes less than a second; off a terminal a line each ten
// seconds, without escapes.
func TestReadProgressIsQuietAndPlain(t *testing.T) {
	began := time.Unix(1e9, 0)
	for _, terminal := range []bool{true, false} {
		var out bytes.Buffer
		p := readProgress{w: &out, terminal: terminal, began: began, said: began, every: 10 * time.Second, marks: []readMark{{at: began}}}
		p.tick(began.Add(500*time.Millisecond), 1e8, 1e10)
		if out.Len() > 0 {
			t.Errorf("after half a second: %q", out.String())
		}
		for s := range 25 {
			p.tick(began.Add(time.Duration(s+1)*time.Second), int64(s+1)*1e8, 1e10)
		}
		p.judging()
		p.done()
		text := out.String()
		if terminal {
			if n := strings.Count(text, "\r\x1b[K["); n != 25 || !strings.HasSuffix(text, "\r\x1b[K") || strings.Contains(text, "\n") {
				t.Errorf("%d bars: %q", n, text)
			}
			continue
		}
		if want := "snag: 10 % of 10.0 GB, 100 MB/s, 1m30s left\nsnag: 20 % of 10.0 GB, 100 MB/s, 1m20s left\n"; text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
}
