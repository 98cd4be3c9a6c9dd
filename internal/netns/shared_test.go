package netns

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Those who share search once, until a name comes or goes, or the search is old.
func TestSearchIsShared(t *testing.T) {
	proc := tree(t, map[string]string{
		"1/ns/net":   "-> net:[4026531840]",
		"812/ns/net": "-> net:[4026532001]",
		"812/comm":   "nginx\n",
	})
	names := t.TempDir()
	shared := &Shared{}
	one := Set{Proc: proc, NameDirs: []string{names}, Own: 4026531840, Shared: shared}
	two := Set{Proc: proc, NameDirs: []string{names}, Own: 4026531840, Shared: shared}
	refresh := func(s *Set) (came, gone []Namespace) {
		t.Helper()
		came, gone, err := s.Refresh()
		if err != nil {
			t.Fatal(err)
		}
		return came, gone
	}
	if came, _ := refresh(&one); len(came) != 2 {
		t.Fatalf("found %v", came)
	}
	refresh(&two)
	if err := os.Symlink("net:[4026532002]", filepath.Join(proc, "812/ns/other")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(proc, "812/ns/other"), filepath.Join(proc, "812/ns/net")); err != nil {
		t.Fatal(err)
	}
	shared.at = time.Now()
	if came, gone := refresh(&one); len(came)+len(gone) != 0 {
		t.Errorf("searched again at once: %v came, %v went", came, gone)
	}
	shared.at = time.Now().Add(-shareFor)
	if came, gone := refresh(&one); len(came) != 1 || came[0].ID != 4026532002 || len(gone) != 1 {
		t.Errorf("an old search was taken: %v came, %v went", came, gone)
	}
	if came, _ := refresh(&two); len(came) != 1 {
		t.Errorf("the other one did not get the new search: %v", came)
	}
	// What changed is not in the search before.
	if err := os.Remove(filepath.Join(proc, "812/ns/net")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(names, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(names, time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, gone := refresh(&two); len(gone) != 1 {
		t.Errorf("a search from before the change was taken: %v", gone)
	}
}

// What one does with the list is not seen by the others.
func TestSharedListIsACopy(t *testing.T) {
	proc := tree(t, map[string]string{"1/ns/net": "-> net:[4026531840]"})
	shared := &Shared{}
	for range 2 {
		found, err := shared.List(proc, nil, 4026531840, false)
		if err != nil || len(found.All) != 1 || found.All[0].ID != 4026531840 {
			t.Fatalf("found %v, %v", found, err)
		}
		found.All[0].ID = 7
	}
}
