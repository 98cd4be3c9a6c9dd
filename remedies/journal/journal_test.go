package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snag/remedies/plan"
)

func TestATornLastLineWasNeverActedOn(t *testing.T) {
	dir := t.TempDir()
	j, _, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Record{{Step: Begun, Boot: "b"}, {Step: Will, Change: "1", Target: &plan.Target{Kind: "sysctl", Name: "x"}, Old: "1", New: "2"}} {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, Name)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := strings.IndexByte(string(whole), '\n') + 1
	for cut := range len(whole) {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		want := 0
		if cut >= first {
			want = 1
		}
		j, all, err := Open(dir)
		if err != nil || len(all) != want {
			t.Fatalf("cut at %d: %d records, %v", cut, len(all), err)
		}
		if err := j.Append(Record{Step: Undone}); err != nil {
			t.Fatal(err)
		}
		_ = j.Close()
		if all, err = Read(dir); err != nil || len(all) != want+1 || all[want].Step != Undone {
			t.Fatalf("cut at %d, then written on: %v, %v", cut, all, err)
		}
	}
}

func TestADamagedLineIsSaid(t *testing.T) {
	dir := t.TempDir()
	text := `{"step":"begun"}` + "\n" + "garbage\n" + `{"step":"applied"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, Name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "line 2 is damaged") {
		t.Error(err)
	}
}
