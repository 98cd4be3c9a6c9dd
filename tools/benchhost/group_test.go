package benchhost

import "testing"

func TestGroupFiles(t *testing.T) {
	t.Parallel()
	if d, err := parseUsage([]byte("usage_usec 1500\nuser_usec 1000\n")); err != nil || d != 1500e3 {
		t.Errorf("usage: got %v, %v", d, err)
	}
	if n := parsePSS([]byte("5581-7ffd ---p 0 00:00 0 [rollup]\nRss:  900 kB\nPss:  700 kB\nPss_Dirty: 4 kB\n")); n != 700<<10 {
		t.Errorf("PSS: got %d", n)
	}
}
