package recording

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// two writes a recording of two hosts, whose files lie a day apart.
func two(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	w, err := Create(dir, Manifest{Start: 1}, Options{Files: true})
	if err != nil {
		t.Fatal(err)
	}
	later, earlier := Time(time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC).UnixNano()), Time(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC).UnixNano())
	a, b, c := w.Part(1), w.Part(2), w.Part(3)
	for i := range 3 {
		at := time.Duration(i) * time.Second
		a.Sample(later.Add(at), "x_total", Labels{"device": "eth0"}, float64(i))
	}
	for i := range 3 { // a day before what is there already
		at := time.Duration(i) * time.Second
		b.Sample(earlier.Add(at), "x_total", Labels{"device": "eth0"}, float64(10*i))
		c.Sample(earlier.Add(at+10*time.Second), "x_total", Labels{"device": "eth0"}, float64(100+i))
	}
	a.Append(Event{T: later, Kind: "k", Subject: Subject{Kind: KindHost}})
	b.Append(Event{T: earlier, Kind: "k", Subject: Subject{Kind: KindHost}})
	a.Append(Coverage{Probe: "host.links", State: CoverageOK})
	err = w.Update(func(m *Manifest) {
		m.Start, m.End = earlier, later.Add(3*time.Second)
		m.Parts = []Part{
			{Keys: []int{1}, Manifest: Manifest{Host: "one", Start: later, End: later.Add(3 * time.Second)}},
			{Keys: []int{2, 3}, Manifest: Manifest{Host: "two", Start: earlier, End: earlier.Add(time.Minute)}},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func checkTwo(t *testing.T, r *Recording) {
	t.Helper()
	if len(r.Damage) > 0 {
		t.Fatalf("damage: %q", r.Damage)
	}
	if len(r.Parts) != 2 || !slices.Equal(r.PartNames(), []string{"one", "two"}) {
		t.Fatalf("parts %v", r.PartNames())
	}
	one, two := r.Parts[0], r.Parts[1]
	if n, ok := one.Series[0].Increase(); len(one.Series) != 1 || n != 2 || !ok || len(one.Series[0].Labels) != 1 {
		t.Errorf("one: %+v", one.Series)
	}
	if s := two.Series; len(s) != 1 || len(s[0].Points) != 6 || s[0].Points[5].V != 102 {
		t.Errorf("two files of one host are not one series: %+v", s)
	}
	if len(one.Events) != 1 || len(two.Events) != 1 || two.Events[0].T >= one.Events[0].T {
		t.Errorf("events %v and %v", one.Events, two.Events)
	}
	if _, ok := one.Measured("host.links"); !ok {
		t.Error("what one measured is lost")
	}
	if _, ok := two.Measured("host.links"); ok {
		t.Error("what one measured counts for two")
	}
	if len(r.Events) != 2 || len(r.Select("x_total", "host", "two")) != 1 {
		t.Errorf("shown together: %d events, series %+v", len(r.Events), r.Series)
	}
}

func TestPartsAreToldApart(t *testing.T) {
	dir := two(t)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	checkTwo(t, r)
	var packed bytes.Buffer
	if err := r.Pack(&packed); err != nil {
		t.Fatal(err)
	}
	again, err := OpenPacked(&packed, "packed")
	if err != nil {
		t.Fatal(err)
	}
	checkTwo(t, again)
}

func TestRowsCarryTheirKey(t *testing.T) {
	for _, line := range []string{`{"t":1,"x":"y"}`, `{}`, `{"part":7}`, `[1]`, ``, `{`} {
		for _, key := range []int{0, 1, 42} {
			got, rest := unmarked(marked([]byte(line), key))
			if wellFormed := len(line) > 1 && line[0] == '{'; wellFormed && key != 0 && (got != key || string(rest) != line) {
				t.Errorf("%s with %d: %d and %s", line, key, got, rest)
			}
		}
	}
}
