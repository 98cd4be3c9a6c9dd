package jvm

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// fakeProcess writes what the finder reads of one: its mount namespace, its pids, and the
// root directory that it sees.
func fakeProcess(t *testing.T, proc string, pid, inside int, space, root, maps string) {
	t.Helper()
	dir := filepath.Join(proc, strconv.Itoa(pid))
	if err := os.MkdirAll(dir+"/ns", 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"ns/mnt": space, "root": root, "exe": "/usr/bin/java"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"status": fmt.Sprintf("Name:\tjava\nNSpid:\t%d\t%d\n", pid, inside), "maps": maps} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Two mount namespaces share a /tmp, and so each has the names of the other's JVMs, which
// are nobody's there: to look for them must not use up what a search may ask.
func TestAFileOfAnotherNamespace(t *testing.T) {
	dir := t.TempDir()
	proc, shared, own := dir+"/proc", dir+"/shared", dir+"/own"
	for _, name := range []string{"7", "8", "9"} {
		writeFile(t, shared+"/tmp/hsperfdata_root/"+name)
	}
	writeFile(t, own+"/tmp/hsperfdata_root/3")
	for pid := 1000; pid < 1000+mostStatus-10; pid++ {
		fakeProcess(t, proc, pid, pid, "mnt:[1]", shared, "")
	}
	fakeProcess(t, proc, 5000, 3, "mnt:[2]", own, "7f00-7f01 rw-s 0 00:28 3 /tmp/hsperfdata_root/3\n")
	f := &finder{proc: proc}
	found := f.search(map[int]bool{})
	if len(found) != 1 || found[0].pid != 5000 || found[0].path != "/tmp/hsperfdata_root/3" {
		t.Fatalf("found %+v", found)
	}
	found[0].file.Close()
	if len(f.insides) != mostStatus-9 {
		t.Errorf("%d pids are known", len(f.insides))
	}
	// What is gone is forgotten: its number may be another's.
	if err := os.RemoveAll(proc + "/5000"); err != nil {
		t.Fatal(err)
	}
	if found := f.search(map[int]bool{}); len(found) != 0 || f.insides[5000] != 0 {
		t.Errorf("found %+v", found)
	}
}

func writeFile(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("counters"), 0o600); err != nil {
		t.Fatal(err)
	}
}
