package readers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/readers/reader"
	"snag/recording"
)

func lasting(name, host, from, to string) *source {
	return &source{name: name, host: host, span: between(from, to)}
}

func moment(name, host, when string, boot recording.Time) *source {
	return &source{name: name, host: host, span: between(when, when), told: reader.Told{Snapshot: true, Boot: boot}}
}

func TestWhatBelongsTogether(t *testing.T) {
	for _, x := range []struct {
		what  string
		files []*source
		want  string // parts, each its host and its files
		notes string
	}{
		{"two that overlap", []*source{lasting("a", "", "10:00:00", "10:05:00"), lasting("b", "", "10:04:00", "10:20:00")}, "[a b]", ""},
		{"rotated within a minute", []*source{lasting("a", "", "10:00:00", "10:05:00"), lasting("b", "", "10:05:40", "10:20:00")}, "[a b]", ""},
		{"an hour apart", []*source{lasting("a", "", "10:00:00", "10:05:00"), lasting("b", "", "11:05:00", "11:20:00")}, "[a][b]", "do not overlap"},
		{"a third between them joins them", []*source{lasting("a", "", "10:00:00", "10:05:00"), lasting("b", "", "11:05:00", "11:20:00"), lasting("c", "", "09:00:00", "12:00:00")}, "[c a b]", ""},
		{"two hosts", []*source{lasting("a", "x", "10:00:00", "10:05:00"), lasting("b", "y", "10:00:00", "10:20:00")}, "x[a]y[b]", ""},
		{"one host named in one file", []*source{lasting("a", "x", "10:00:00", "10:05:00"), lasting("b", "", "10:00:00", "10:20:00")}, "x[a b]", ""},
		{"two hosts named, and a file of neither", []*source{lasting("a", "x", "10:00:00", "10:05:00"), lasting("b", "y", "10:00:00", "10:20:00"), lasting("c", "", "10:00:00", "10:20:00")}, "x[a]y[b][c]", "c does not name its host"},
		{"a host with its domain and without", []*source{lasting("a", "x.example.com", "10:00:00", "10:05:00"), lasting("b", "x", "10:00:00", "10:20:00")}, "x[a b]", ""},
		{"one name in two domains", []*source{lasting("a", "x.one", "10:00:00", "10:05:00"), lasting("b", "x.two", "10:00:00", "10:20:00")}, "x.one[a]x.two[b]", ""},
		{"addresses", []*source{lasting("a", "10.0.0.1", "10:00:00", "10:05:00"), lasting("b", "10.0.0.2", "10:00:00", "10:20:00")}, "10.0.0.1[a]10.0.0.2[b]", ""},
		{"two snapshots a day apart", []*source{moment("a", "x", "01:00:00", 0), moment("b", "x", "23:00:00", 0)}, "x[a b]", ""},
		{"a reboot between two snapshots", []*source{moment("a", "x", "01:00:00", at("00:30:00")), moment("b", "x", "23:00:00", at("12:00:00"))}, "x[a]x[b]", "the host was booted"},
		{"boot moves with the clock by a second", []*source{moment("a", "x", "01:00:00", at("00:30:00")), moment("b", "x", "23:00:00", at("00:30:01"))}, "x[a b]", ""},
		{"a snapshot two hours after a trace", []*source{lasting("a", "", "10:00:00", "10:05:00"), moment("b", "", "12:00:00", 0)}, "[a b]", ""},
		{"no times at all", []*source{{name: "a"}, lasting("b", "", "10:00:00", "10:05:00")}, "[b a]", ""},
	} {
		found, notes := parts(x.files)
		got := ""
		for _, p := range found {
			var names []string
			for _, s := range p.sources {
				names = append(names, s.name)
			}
			got += p.host + fmt.Sprint(names)
		}
		if got != x.want || !strings.Contains(strings.Join(notes, "\n"), x.notes) || x.notes == "" && len(notes) > 0 {
			t.Errorf("%s: %s %q, want %s %q", x.what, got, notes, x.want, x.notes)
		}
	}
}

func TestASnapshotMakesNoWindowLonger(t *testing.T) {
	for _, x := range []struct {
		files []*source
		want  recording.Interval
	}{
		{[]*source{lasting("a", "", "10:00:00", "10:05:00"), moment("b", "", "12:00:00", 0)}, between("10:00:00", "10:05:00")},
		{[]*source{moment("b", "", "12:00:00", 0)}, between("12:00:00", "12:00:00")},
		{[]*source{moment("b", "", "12:00:00", 0), moment("c", "", "12:10:00", 0)}, between("12:00:00", "12:10:00")},
	} {
		if got := windowOf(x.files); got != x.want {
			t.Errorf("%v, want %v", got, x.want)
		}
	}
}

func TestCountersThatFellMakeNoRate(t *testing.T) {
	for _, x := range []struct {
		later map[string][2]float64
		want  int
	}{
		{map[string][2]float64{"a": {11, 11}, "b": {20, 20}, "c": {5, 5}}, 1}, // one of them wrapped or was reset
		{map[string][2]float64{"a": {9, 9}, "b": {19, 19}, "c": {31, 31}}, 2},
		{map[string][2]float64{"d": {1, 1}}, 1},
	} {
		a, b := moment("a", "x", "10:00:00", 0), moment("b", "x", "10:05:00", 0)
		a.counters, b.counters = map[string][2]float64{"a": {10, 10}, "b": {20, 20}, "c": {30, 30}}, x.later
		if found, notes := parts([]*source{a, b}); len(found) != x.want || (len(notes) > 0) != (x.want > 1) {
			t.Errorf("%v: %d parts, %q", x.later, len(found), notes)
		}
	}
}

func TestOnlyAskedHostsAreNotTheOthers(t *testing.T) {
	a, b := lasting("a", "x", "10:00:00", "10:05:00"), lasting("b", "", "10:00:00", "10:20:00")
	a.asked = true
	if found, notes := parts([]*source{a, b}); len(found) != 2 || len(notes) != 1 {
		t.Errorf("%d parts, %q: b was taken for x's, which only a was said to be", len(found), notes)
	}
}

func TestTimesAreShiftedWhereverTheyAre(t *testing.T) {
	d := 3200 * time.Millisecond
	e := recording.Event{T: 10, End: 20, Kind: "x", Value: 3}
	got := shifted(e, d).(recording.Event)
	if got.T != 10+recording.Time(d) || got.End != 20+recording.Time(d) || got.Value != 3 {
		t.Errorf("%+v", got)
	}
	if e.T != 10 {
		t.Error("the reader's own row was changed")
	}
	if got := shifted(recording.Event{T: 10}, d).(recording.Event); got.End != 0 {
		t.Error("an end that is not known became one")
	}
	if got := shifted(recording.Event{T: 10}, 0).(recording.Event); got.T != 10 {
		t.Error("moved by nothing")
	}
}

func TestCoverageOfTwoSourcesIsOne(t *testing.T) {
	row := func(state, why string, lost uint64) recording.Coverage {
		return recording.Coverage{Probe: "p", State: state, Why: why, Lost: lost}
	}
	p := part{sources: []*source{
		{name: "a", format: "f", told: reader.Told{Coverage: []recording.Coverage{row(recording.CoverageOK, "", 1)}}},
		{name: "b", format: "f", told: reader.Told{Coverage: []recording.Coverage{row(recording.CoveragePartial, "torn", 2)}}},
		{name: "c", format: "f", told: reader.Told{Coverage: []recording.Coverage{row(recording.CoverageUnavailable, "no times", 0)}}},
	}}
	all := p.coverage()
	if c := all[0]; len(all) != 4 || c.State != recording.CoveragePartial || c.Why != "torn" || c.Lost != 3 {
		t.Errorf("%+v", all)
	}
}

func TestAskedForByPathNameAndFolder(t *testing.T) {
	s := settings{hosts: map[string]string{"a/b/c.txt": "path", "d.txt": "name", "e": "folder"}}
	for path, want := range map[string]string{"a/b/c.txt": "path", "x/d.txt": "name", "e/f/g.txt": "folder", "y/e/h": "folder", "z.txt": ""} {
		if got := s.hostOf(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if err := s.check([]string{"a/b/c.txt", "x/d.txt"}); err == nil || !strings.Contains(err.Error(), "--host e=") {
		t.Errorf("a folder that was not given: %v", err)
	}
	if err := s.check([]string{"a/b/c.txt", "x/d.txt", "e/"}); err != nil {
		t.Error(err)
	}
}

func TestFoldersOfOneHostEach(t *testing.T) {
	for _, x := range []struct {
		files, want []string
	}{
		{[]string{"d/one/ss.txt", "d/two/ss.txt"}, []string{"d/one", "d/two"}},
		{[]string{"d/proc/net/snmp", "d/sys/x"}, []string{"d", "d"}},
		{[]string{"d/ss.txt", "d/two/ss.txt"}, []string{"d", "d"}},
		{[]string{"d/s1/sos_commands/networking/ss", "d/s1/proc/meminfo", "d/s2/sos_commands/x/y"}, []string{"d/s1", "d/s1", "d/s2"}},
	} {
		root := rootsIn("d", x.files)
		var got []string
		for _, f := range x.files {
			got = append(got, root(f))
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%v: %v, want %v", x.files, got, x.want)
		}
	}
}
