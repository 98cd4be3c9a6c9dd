package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/internal/cli"
)

// The real program undoes a plan whose journal is damaged: its exit code is 1, it says
// what is certain, and no setting of the kernel has a value that is neither that of
// before nor that of the plan.
func TestADamagedJournalIsNeverASuccess(t *testing.T) {
	t.Parallel()
	s := newSpace(t, "damage", false)
	before := s.values()
	if out, code := s.tune("apply", s.plan, "--within", "10m"); code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	kept := s.store
	path, err := filepath.Glob(filepath.Join(kept, "2*", "journal.jsonl"))
	if err != nil || len(path) != 1 {
		t.Fatal(path, err)
	}
	whole, err := os.ReadFile(path[0])
	if err != nil {
		t.Fatal(err)
	}
	used := whole[:len(bytes.TrimRight(whole, "\n"))+1]
	random := rand.New(rand.NewPCG(3, 4))
	attacks := map[string][]byte{"empty": nil}
	for n := range 15 {
		for _, b := range before[n%3 : n%3+1] {
			text := slices.Clone(whole)
			i := bytes.Index(text, []byte(`"old":"`+b+`"`)) + len(`"old":"`) + random.IntN(len(b))
			text[i] ^= 1 << random.IntN(3) // a digit most often becomes another
			attacks[fmt.Sprintf("flip %d", n)] = text
		}
	}
	lines := bytes.SplitAfter(used, []byte{'\n'})
	for n := range len(lines) - 1 {
		attacks[fmt.Sprintf("line %d is missing", n+1)] = bytes.Join(slices.Delete(slices.Clone(lines), n, n+1), nil)
		attacks[fmt.Sprintf("cut off after line %d", n)] = bytes.Join(lines[:n], nil)
	}
	for range 10 {
		n := random.IntN(len(used) - 1)
		attacks[fmt.Sprintf("cut off at %d", n)] = used[:n]
	}
	restored := 0
	for what, text := range attacks {
		s.store = filepath.Join(t.TempDir(), "store")
		if err := os.CopyFS(s.store, os.DirFS(kept)); err != nil {
			t.Fatal(err)
		}
		s.run("chmod", "-R", "go-rwx", s.store)
		name := filepath.Join(s.store, strings.TrimPrefix(path[0], kept))
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, k := range tuned {
			s.run("ip", "netns", "exec", s.name, "sysctl", "-qw", k[0]+"="+k[1])
		}
		out, code := s.tune("undo")
		if code != cli.ExitFailed || strings.Contains(out, "settings are as before\n") || !strings.Contains(out, "can't be trusted") {
			t.Errorf("%s: exit %d: %s", what, code, out)
		}
		now := s.values()
		for i, v := range now {
			if v != before[i] && v != tuned[i][1] {
				t.Errorf("%s: %s is %s", what, tuned[i][0], v)
			}
		}
		if fmt.Sprint(now) == fmt.Sprint(before) {
			restored++
		} else if !strings.Contains(out, "not certain: which others were changed") {
			t.Errorf("%s: %v is not as before, and it is not said: %s", what, now, out)
		}
	}
	t.Logf("%d damaged journals: %d errors, 0 wrong values; all was restored all the same in %d", len(attacks), len(attacks), restored)
	s.store = kept
	if out, code := s.tune("undo"); code != 0 {
		t.Errorf("the whole one: exit %d: %s", code, out)
	}
	s.comeBack(before, time.Second)
}
