package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/remedies/plan"
)

// life is what a plan of three changes writes, from its beginning to its confirmation.
func life() (all []Record) {
	at := time.Date(2026, 11, 27, 1, 2, 3, 0, time.UTC)
	all = append(all, Record{Step: Begun, Boot: "b", Deadline: at.Add(time.Minute), DeadlineBoot: 77, Serial: 4, Sum: "aa"}, Record{Step: Armed, By: "process 12"})
	for i, name := range []string{"net.core.somaxconn", "net.ipv4.tcp_fin_timeout", "net.core.rmem_max"} {
		id := string(rune('1' + i))
		all = append(all, Record{Step: Will, Change: id, Target: &plan.Target{Kind: "sysctl", Name: name}, Old: "212992", New: "8388608"}, Record{Step: Did, Change: id, Now: "8388608"})
	}
	all = append(all, Record{Step: Applied}, Record{Step: Confirmed})
	for i := range all {
		all[i].At = at.Add(time.Duration(i) * time.Second)
	}
	return all
}

// written is that life as a file.
func written(t testing.TB, room int64) (dir, path string, text []byte) {
	t.Helper()
	dir = t.TempDir()
	j, err := Create(dir, room)
	if err != nil && !errors.Is(err, ErrNoRoom) {
		t.Fatal(err)
	}
	for _, r := range life() {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, Name)
	text, err = os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return dir, path, text
}

func TestAJournalIsReadAsItWasWritten(t *testing.T) {
	dir, _, text := written(t, 8192)
	c, err := Read(dir)
	if err != nil || c.Damage != nil || c.Format != 2 || !reflect.DeepEqual(c.Records, life()) {
		t.Errorf("%v %v\n%+v", err, c.Damage, c.Records)
	}
	if len(text) != headLength+8192 { // the records are in the room
		t.Errorf("%d bytes", len(text))
	}
}

// Whatever one bit of a line is turned to, it is damage, and no record that is told is
// another than was written.
func TestEveryBitFlip(t *testing.T) {
	_, _, text := written(t, 100)
	used := len(bytes.TrimRight(text, "\n")) + 1
	flips := 0
	for i := range text {
		for bit := range 8 {
			flipped := slices.Clone(text)
			flipped[i] ^= 1 << bit
			c := parse(flipped)
			flips++
			if i < used && c.Damage == nil {
				t.Fatalf("bit %d of byte %d (%q) is flipped, and nobody says so", bit, i, text[i])
			}
			if i >= used && (c.Damage != nil || len(c.Records) != len(life())) {
				t.Fatalf("a bit in the room: %v", c.Damage)
			}
			if !among(c.Records, life()) {
				t.Fatalf("bit %d of byte %d is flipped, and a wrong record is believed", bit, i)
			}
		}
	}
	t.Logf("%d flips", flips)
}

// among tells whether all records are ones that were written, in that order.
func among(some, all []Record) bool {
	for _, r := range some {
		i := slices.IndexFunc(all, func(w Record) bool { return reflect.DeepEqual(r, w) })
		if i < 0 {
			return false
		}
		all = all[i+1:]
	}
	return true
}

// Lines that are missing, twice, or in another order, and files that are cut off at any
// byte, with and without the room behind them.
func TestLinesThatAreMissing(t *testing.T) {
	_, _, text := written(t, 4096)
	used := len(bytes.TrimRight(text, "\n")) + 1
	for cut := range used {
		for _, room := range []int{0, 1, 300} {
			c := parse(append(slices.Clone(text[:cut]), bytes.Repeat([]byte{'\n'}, room)...))
			if c.Damage == nil && cut+room < used-1 || !among(c.Records, life()) {
				t.Fatalf("cut off at %d of %d, and nobody says so", cut, used)
			}
		}
	}
	lines := bytes.SplitAfter(text[:used], []byte{'\n'})
	lines = lines[:len(lines)-1]
	check := func(what string, some [][]byte) {
		t.Helper()
		c := parse(bytes.Join(some, nil))
		if c.Damage == nil || !among(c.Records, life()) {
			t.Errorf("%s, and nobody says so", what)
		}
	}
	for i := range lines {
		check("a line is missing", slices.Delete(slices.Clone(lines), i, i+1))
		check("a line is there twice", slices.Insert(slices.Clone(lines), i, lines[i]))
		for k := range i {
			some := slices.Clone(lines)
			some[i], some[k] = some[k], some[i]
			check("two lines are exchanged", some)
			check("lines are missing", slices.Delete(slices.Clone(lines), k, i+1))
		}
	}
	check("nothing", nil)
	check("room only", [][]byte{bytes.Repeat([]byte{'\n'}, 100)})
}

// A line that was being written at a kill is none, and the next takes its place: no bit of
// a longer one that was there is left.
func TestATornLastLineWasNeverActedOn(t *testing.T) {
	for _, cut := range []int{0, 1, 5, 60, 200, 10_000} {
		dir, path, text := written(t, 8192)
		used := len(bytes.TrimRight(text, "\n")) + 1
		next, _, err := encode(uint64(len(life())+1), parse(text).last.sum, Record{Step: Undoing, Why: strings.Repeat("x", 500)})
		if err != nil {
			t.Fatal(err)
		}
		copy(text[used:], next[:min(cut, len(next)-2)])
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Read(dir)
		if err != nil || c.Damage != nil || len(c.Records) != len(life()) {
			t.Fatalf("torn after %d bytes: %v %v", cut, err, c.Damage)
		}
		j, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []Step{Undoing, Undone} {
			if err := j.Append(Record{Step: s}); err != nil {
				t.Fatal(err)
			}
		}
		_ = j.Close()
		if c, err = Read(dir); err != nil || c.Damage != nil || len(c.Records) != len(life())+2 {
			t.Fatalf("torn after %d bytes, then written on: %v %v", cut, err, c.Damage)
		}
	}
}

// A record whose count was not written, as at a kill between the two, is one.
func TestARecordThatIsNotCounted(t *testing.T) {
	dir, path, text := written(t, 4096)
	l := life()
	copy(text, encodeHead(uint64(len(l)-1), parse(text).last.prev))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Read(dir); err != nil || c.Damage != nil || len(c.Records) != len(l) {
		t.Errorf("%v %+v", err, c)
	}
}

// What is written behind damage does not hide it.
func TestDamageStays(t *testing.T) {
	_, _, text := written(t, 4096)
	used := len(bytes.TrimRight(text, "\n")) + 1
	for name, damaged := range map[string][]byte{
		"a flip": append(append(slices.Clone(text[:used-100]), text[used-100]^1), text[used-99:]...),
		"a cut":  text[:used-700],
		"head":   append([]byte{'x'}, text[1:]...),
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, Name), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := Open(dir)
		if err != nil || j.Content().Damage == nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, r := range []Record{{Step: Damaged, Why: "x"}, {Step: Undone}} {
			if err := j.Append(r); err != nil {
				t.Fatal(err)
			}
		}
		_ = j.Close()
		c, err := Read(dir)
		if err != nil || !slices.ContainsFunc(c.Records, func(r Record) bool { return r.Step == Damaged }) || c.Records[len(c.Records)-1].Step != Undone || c.Damage == nil && name != "head" {
			t.Errorf("%s: %v %+v", name, err, c)
		}
	}
}

const oldJournal = `{"at":"2026-11-26T01:00:00Z","step":"begun","boot":"b","deadline":"2026-11-26T01:02:00Z"}
{"at":"2026-11-26T01:00:00Z","step":"will","change":"1","target":{"Kind":"sysctl","Name":"net.core.somaxconn"},"old":"4096","new":"16384"}
{"at":"2026-11-26T01:00:00Z","step":"did","change":"1","now":"16384"}
`

func TestAJournalOfAnOlderSnag(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, Name)
	if err := os.WriteFile(path, []byte(oldJournal+`{"at":"2026-11-26T01:0`), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := Open(dir)
	if err != nil || j.Content().Format != 1 || j.Content().Damage != nil || len(j.Content().Records) != 3 {
		t.Fatalf("%v %+v", err, j.Content())
	}
	if err := j.Append(Record{Step: Undone}); err != nil {
		t.Fatal(err)
	}
	_ = j.Close()
	c, err := Read(dir)
	if err != nil || c.Format != 1 || c.Damage != nil || len(c.Records) != 4 || c.Records[3].Step != Undone {
		t.Errorf("%v %+v", err, c)
	}
	for name, text := range map[string]string{
		"garbage":       strings.Replace(oldJournal, `{"at":"2026-11-26T01:00:00Z","step":"did"`, "garbage", 1),
		"a null target": strings.Replace(oldJournal, `{"Kind":"sysctl","Name":"net.core.somaxconn"}`, "null", 1),
		"no step":       strings.Replace(oldJournal, `"step":"did",`, "", 1),
	} {
		if c := parse([]byte(text)); c.Damage == nil {
			t.Errorf("%s: nobody says so", name)
		}
	}
}

func TestNoFileByALink(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(dir, Name)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, unix.ELOOP) {
		t.Error(err)
	}
	if _, err := Create(dir, 100); !errors.Is(err, unix.EEXIST) {
		t.Error(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFile(filepath.Join(dir, "fifo"), os.O_RDONLY); err == nil {
		t.Error("a fifo is opened")
	}
}

func FuzzParse(f *testing.F) {
	_, _, text := written(f, 100)
	f.Add(text)
	f.Add([]byte(oldJournal))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := parse(b)
		for _, r := range c.Records {
			if r.Step == Will && r.Target == nil {
				t.Error("a change without its target")
			}
		}
		if c.end > len(b) {
			t.Errorf("it ends at %d of %d", c.end, len(b))
		}
	})
}
