package stamp

import (
	"testing"
	"time"
)

func TestStamps(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	changed := time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		read Reader
		in   string
		want string
		n    int
	}{
		{ISO, "2026-03-01T12:00:00.123456789+01:00 x", "2026-03-01T11:00:00.123456789Z", 35},
		{ISO, "2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z", 20},
		{ISO, "2026-03-01T12:00:00+0100 host", "2026-03-01T11:00:00Z", 24},
		{ISO, "2026-03-01 12:00:00,123 INFO", "2026-03-01T11:00:00.123Z", 23},
		{ISO, "2026-07-01 12:00:00.5 +0000 UTC", "2026-07-01T12:00:00.5Z", 27},
		{ISO, "2026-07-01 12:00:00 [error]", "2026-07-01T10:00:00Z", 19},
		{ISO, "2026/03/01 12:00:00 [error] 12#12: x", "2026-03-01T11:00:00Z", 19},
		{ISO, "2026-03-01\t12:00:00\tUTC\tplay", "2026-03-01T12:00:00Z", 19},
		{ISO, "2026-03-01\t12:00:00\tCET\tplay", "2026-03-01T11:00:00Z", 19},
		{ISO, "2026-03-01 12:00:00 -5 degrees", "2026-03-01T11:00:00Z", 19},
		{ISO, "2026-13-01 12:00:00", "", 0},
		{ISO, "2026-03-01 25:00:00", "", 0},
		{CLF, "01/Mar/2026:12:00:00 +0100] \"GET", "2026-03-01T11:00:00Z", 26},
		{CLF, "01/Mrz/2026:12:00:00 +0100", "", 0},
		{Syslog, "Mar  1 12:00:00 host", "2026-03-01T11:00:00Z", 15},
		{Syslog, "Mar 01 12:00:00.5 host", "2026-03-01T11:00:00.5Z", 17},
		{Syslog, "Dec 31 23:59:59 host", "2025-12-31T22:59:59Z", 15}, // the file was written in March
		{Glog, "E0301 12:00:00.123456   77 f.go:1] x", "2026-03-01T11:00:00.123456Z", 21},
		{Glog, "X0301 12:00:00.123456", "", 0},
		{Asctime, "Sun Mar 01 12:00:00.123456 2026] x", "2026-03-01T11:00:00.123456Z", 31},
		{Asctime, "Sun Mar  1 12:00:00 2026", "2026-03-01T11:00:00Z", 24},
		{Epoch, "1772362800.25 x", "2026-03-01T11:00:00.25Z", 13},
		{Epoch, "1772362800250 x", "2026-03-01T11:00:00.25Z", 13},
		{Epoch, "1772362800250000", "2026-03-01T11:00:00.25Z", 16},
		{Epoch, "12345 x", "", 0},
		{Epoch, "0000000001 x", "", 0},
	} {
		clock := New(berlin, changed)
		ns, n := c.read(&clock, []byte(c.in))
		got := ""
		if n > 0 {
			got = time.Unix(0, ns).UTC().Format(time.RFC3339Nano)
		}
		if got != c.want || n != c.n {
			t.Errorf("%q is %q, %d bytes; want %q, %d", c.in, got, n, c.want, c.n)
		}
	}
}

// TestWallAgainstTheLibrary holds the calendar against Go's, over four centuries.
func TestWallAgainstTheLibrary(t *testing.T) {
	for d := time.Date(1900, 1, 1, 5, 6, 7, 0, time.UTC); d.Year() < 2301; d = d.AddDate(0, 0, 17) {
		if got := wall(d.Year(), int(d.Month()), d.Day(), 5, 6, 7); got != d.Unix() {
			t.Fatalf("%v: %d, want %d", d, got, d.Unix())
		}
	}
}

// TestZonesAgainstTheLibrary: summer time comes and goes.
func TestZonesAgainstTheLibrary(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	c := New(berlin, time.Now())
	for at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2027; at = at.Add(1700 * time.Second) {
		w := at.In(berlin)
		got := c.utc(wall(w.Year(), int(w.Month()), w.Day(), w.Hour(), w.Minute(), w.Second()))
		twice := w.Month() == time.October && w.Day() == 25 && w.Hour() == 2
		if got != at.Unix() && !twice {
			t.Fatalf("%v is taken for %v", w, time.Unix(got, 0).In(berlin))
		}
	}
}
