package readers

import (
	"strings"
	"testing"
	"time"

	"snag/readers/reader"
	"snag/recording"
)

func TestTimesAsked(t *testing.T) {
	first := recording.Time(time.Date(2026, 3, 1, 22, 30, 0, 0, time.UTC).UnixNano())
	in := reader.Bytes("x.log", nil)
	files := []file{{in: in, opt: reader.Options{Zone: time.UTC}}}
	times := []written{{first: first}}
	for _, c := range []struct {
		from, to, want string
	}{
		{"23:00", "23:10:30", "2026-03-01 23:00:00 – 2026-03-01 23:10:30"},
		{"00:05", "", "2026-03-02 00:05:00 – "},
		{"", "21:45", " – 2026-03-01 21:45:00"}, // a clock that is somewhat off
		{"2026-03-01T23:00:00Z", "2026-03-02 01:00 UTC", "2026-03-01 23:00:00 – 2026-03-02 01:00:00"},
		{"23:10", "23:00", "is not before"},
		{"00:00", "23:59", "2026-03-01 00:00:00 – 2026-03-01 23:59:00"}, // all of the day
		{"2026-03-02T00:10:00Z", "23:59", "is not before"},
		{"soon", "", "is not a time"},
		{"at 23:10 or so", "", "is not a time"},
	} {
		w, err := timesAsked(Plan{From: c.from, To: c.to, Zone: time.UTC}, files, times, hostClocks{})
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q %q: %v, want %s", c.from, c.to, err, c.want)
			}
			continue
		}
		text := func(at recording.Time) string {
			if at == 0 {
				return ""
			}
			return at.Wall().UTC().Format("2006-01-02 15:04:05")
		}
		if got := text(w.from) + " – " + text(w.to); got != c.want {
			t.Errorf("%q %q: %s, want %s", c.from, c.to, got, c.want)
		}
	}
}

func TestRowsOfAWindow(t *testing.T) {
	w := window{from: 10e9, to: 20e9}
	for _, c := range []struct {
		row  recording.Row
		want bool
	}{
		{recording.Event{T: 5e9}, false},
		{recording.Event{T: 5e9, End: 12e9}, true},
		{recording.Event{T: 15e9}, true},
		{recording.Event{T: 21e9, End: 30e9}, false},
		{recording.Flow{T: 1e9, End: 9e9}, false},
		{recording.Flow{T: 1e9, End: 30e9}, true},
		{recording.Fact{Name: "x"}, true}, // of all times
	} {
		if got := w.hasRow(c.row); got != c.want {
			t.Errorf("%+v: %v", c.row, got)
		}
		if !(window{}).hasRow(c.row) {
			t.Errorf("%+v is left out of all", c.row)
		}
	}
	told := reader.Told{First: 5e9, Last: 15e9}
	if !w.clip(&told) || told.First != 10e9 || told.Last != 15e9 {
		t.Errorf("%+v", told)
	}
	told = reader.Told{First: 25e9, Last: 35e9}
	if w.clip(&told) || told.First != 20e9 || told.Last != 20e9 {
		t.Errorf("%+v", told)
	}
}

func TestTimesThatLieTooFarApart(t *testing.T) {
	start := recording.Time(1_700_000_000e9)
	m := recording.Manifest{Start: start, End: start.Add(9 * 365 * 24 * time.Hour)}
	if err := tooFarApart(m); err != nil {
		t.Error(err)
	}
	m.Start = 86400e9 // a packet without a time
	err := tooFarApart(m)
	if err == nil || !strings.Contains(err.Error(), "years apart, from 1970-01-02 to 20") || !strings.Contains(err.Error(), "--from and --to") {
		t.Errorf("%v", err)
	}
}
