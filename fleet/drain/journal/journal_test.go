package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snag/fleet/drain/health"
)

func written(t *testing.T) (path string, text []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "plan.journal")
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Record{
		{Step: Begun, Plan: "aa"}, {Step: Batch, N: 1, Base: health.Baseline{"a": {Affected: true, Symptoms: []string{"freeze of x"}}}},
		{Step: Will, Peer: "a", Phase: "drain", N: 1, Text: "touch x"}, {Step: Did, Peer: "a", Phase: "drain", N: 1}, {Step: Stopped, Why: "no\nwhy"},
	} {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, text
}

func TestAJournalIsReadAsItWasWritten(t *testing.T) {
	path, _ := written(t)
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if len(j.Records) != 5 || !j.Records[1].Base["a"].Affected || j.Records[4].Why != "no\nwhy" {
		t.Errorf("%+v", j.Records)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st.Mode(), err)
	}
}

// Cut off at any byte, as at a kill or a crash: what was whole is there, the rest is cut off, and it goes on.
func TestTornAtEachByte(t *testing.T) {
	path, text := written(t)
	for cut := range len(text) + 1 {
		if err := os.WriteFile(path, text[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := Open(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		whole := bytes.Count(text[:cut], []byte("\n"))
		if len(j.Records) != whole {
			t.Fatalf("cut at %d: %d records, want %d", cut, len(j.Records), whole)
		}
		if err := j.Append(Record{Step: Done}); err != nil {
			t.Fatal(err)
		}
		_ = j.Close()
		again, _ := os.ReadFile(path)
		if all, _, _, err := Parse(again); err != nil || len(all) != whole+1 || all[whole].Step != Done {
			t.Fatalf("cut at %d and written on: %v %+v", cut, err, all)
		}
	}
}

// A bit that is turned, a line that is missing or twice is damage, and nothing is carried out by it.
func TestDamageIsNoticed(t *testing.T) {
	_, text := written(t)
	for i := range text {
		flipped := slices.Clone(text)
		flipped[i] ^= 1 << (i % 8)
		all, whole, _, err := Parse(flipped)
		if err == nil && len(all) == 5 && whole == len(text) {
			t.Fatalf("byte %d (%q) was changed, and no one says so", i, text[i])
		}
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i := range 4 {
		if _, _, _, err := Parse(bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil)); err == nil {
			t.Errorf("line %d is missing, and no one says so", i+1)
		}
		if _, _, _, err := Parse(bytes.Join(slices.Insert(slices.Clone(lines), i, lines[i]), nil)); err == nil || !strings.Contains(err.Error(), "look at the peers") {
			t.Errorf("line %d is there twice: %v", i+1, err)
		}
	}
}

func TestOneAtATime(t *testing.T) {
	path, _ := written(t)
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, ErrLocked) {
		t.Errorf("a second one: %v", err)
	}
	_ = j.Close()
	if j, err = Open(path); err != nil {
		t.Fatal(err)
	}
	_ = j.Close()
}

func TestNoFileByALinkAndNoFifo(t *testing.T) {
	path, _ := written(t)
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link); err == nil {
		t.Error("a link is followed")
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder is taken")
	}
	if _, err := Open("/dev/null"); err == nil {
		t.Error("a device is taken")
	}
}

// After a failed write nothing may be done any more.
func TestNothingAfterAFailedWrite(t *testing.T) {
	path, _ := written(t)
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = j.f.Close()
	for range 2 {
		if err := j.Append(Record{Step: Done}); err == nil || !strings.Contains(err.Error(), "nothing more is done") {
			t.Error(err)
		}
	}
	if len(j.Records) != 5 {
		t.Error("a record counts that is not on disk")
	}
}
