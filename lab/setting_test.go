package lab_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snag/lab"
	"snag/lab/labtest"
)

func TestASettingIsPutBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nf_conntrack_max")
	if err := os.WriteFile(file, []byte("262144\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	is := func(want string) {
		t.Helper()
		raw, err := os.ReadFile(file)
		if got := strings.TrimSpace(string(raw)); err != nil || got != want {
			t.Errorf("the setting is %q (%v), want %s", got, err, want)
		}
	}
	t.Run("at the end", func(t *testing.T) {
		s := labtest.Stage(t)
		s.Sysctl(file, "256")
		s.Sysctl(file, "512")
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		is("512")
	})
	is("262144")
	// What the janitor does when the lab is gone: the pipe ends without a word.
	if err := os.WriteFile(file, []byte("256"), 0o600); err != nil {
		t.Fatal(err)
	}
	note := `{"add":{"kind":"setting","path":"` + file + `","value":"262144"}}` + "\n"
	if err := lab.Janitor(strings.NewReader(note), "SNAG_LAB_STAGE=none"); err != nil {
		t.Fatal(err)
	}
	is("262144")
	t.Run("one that is not there", func(t *testing.T) {
		s := labtest.Stage(t)
		s.Sysctl(file+"x", "1")
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), "to put it back") {
			t.Errorf("%v, want the setting's name and why", err)
		}
	})
}
