package leftover

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	name1    = "snag-20260101-100000-1"
	manifest = `{"version":1,"snag":"test","anchor":{"wall_ns":1},"start":1}`
)

var packed = string(zstdMagic) + "rest"

type files map[string]string

// folder makes a folder in dir with files (a name that ends in / is a folder) and returns its path.
func folder(t *testing.T, dir, name string, in files) string {
	t.Helper()
	at := filepath.Join(dir, name)
	if err := os.Mkdir(at, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range in {
		path := filepath.Join(at, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		err := error(nil)
		if strings.HasSuffix(file, "/") {
			err = os.MkdirAll(path, 0o700)
		} else {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// only is the one leftover in dir.
func only(t *testing.T, dir string, now time.Time) Leftover {
	t.Helper()
	all, err := In(dir, now)
	if err != nil || len(all) != 1 {
		t.Fatalf("leftovers: %v, %v", all, err)
	}
	return all[0]
}

func TestWhatMayGo(t *testing.T) {
	for _, c := range []struct {
		why   string
		name  string
		files files
		stays string // part of the reason; "" if it may go
	}{
		{"a recording", name1, files{"manifest.json": manifest, "samples/01ABC/index": "x", "tables/sockets.jsonl": "{}"}, ""},
		{"one that was cut off", name1, files{"manifest.json": manifest, "writer.lock": "4711\n", "samples/wal/0": ""}, ""},
		{"half of one", name1, files{"manifest.json.tmp": "", "writer.lock": ""}, ""},
		{"an empty folder", name1, nil, ""},
		{"a time of the ring", name1, files{"past.snag": packed}, ""},
		{"half of that", name1, files{".past.snag.ABCDEFGHIJKLMNOPQRSTUVWXYZ": ""}, ""},
		{"earlier times", name1 + ".earlier", files{"1.snag": packed, "2.snag": packed}, ""},
		{"a copy of a killed run", "snag-copy-17", files{"manifest.json": manifest}, ""},
		{"several of a watch", "snag-watch-host-17", files{"1/manifest.json": manifest, "1/tables/sockets.jsonl": "", "2/writer.lock": ""}, ""},
		{"somebody's notes", name1, files{"manifest.json": manifest, "notes.txt": "x"}, "notes.txt, which snag did not write"},
		{"a folder of somebody", name1, files{"manifest.json": manifest, "photos/": ""}, "photos, which snag did not write"},
		{"another program's manifest", name1, files{"manifest.json": `{"name":"extension"}`}, "manifest.json is not of a recording"},
		{"a manifest that is none", name1, files{"manifest.json": "}{"}, "manifest.json is not of a recording"},
		{"a file that is not packed", name1, files{"past.snag": "hello"}, "past.snag is not a packed recording"},
		{"a ring", name1, files{"recorder.lock": "", "20260101T100000.000Z-1s.snag": packed}, "ring of snag record"},
	} {
		dir := t.TempDir()
		at := folder(t, dir, c.name, c.files)
		l := only(t, dir, time.Now())
		if c.stays == "" && l.Stays != "" || !strings.Contains(l.Stays, c.stays) {
			t.Errorf("%s: it stays because %q, want %q", c.why, l.Stays, c.stays)
		}
		err := Remove(l)
		_, there := os.Lstat(at)
		if (c.stays == "") != (err == nil) || (c.stays == "") != os.IsNotExist(there) {
			t.Errorf("%s: remove: %v, then %v", c.why, err, there)
		}
	}
}

func TestOtherNamesAreNotLookedAt(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"snag-a", "snag-2026", "snag-20260101-100000", "snag-lab-20260101-100000-1", name1 + ".html",
		"x" + name1, name1 + "\nx", "snag-20260101-100000-x",
	} {
		at := folder(t, dir, name, files{"manifest.json": manifest})
		if err := Remove(Leftover{Path: at}); err == nil {
			t.Errorf("%q was removed", name)
		}
	}
	if all, err := In(dir, time.Now()); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
}

func TestALinkIsNotFollowed(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	aim := folder(t, other, "precious", files{"manifest.json": manifest, "tables/sockets.jsonl": "{}"})
	link := filepath.Join(dir, name1)
	if err := os.Symlink(aim, link); err != nil {
		t.Fatal(err)
	}
	if all, err := In(dir, time.Now()); err != nil || len(all) != 0 {
		t.Errorf("a link is listed: %v, %v", all, err)
	}
	if err := Remove(Leftover{Path: link}); err == nil {
		t.Error("a link was removed")
	}
	at := folder(t, dir, "snag-20260101-100000-2", files{"manifest.json": manifest, "samples/": ""})
	if err := os.Symlink(aim, filepath.Join(at, "tables")); err != nil {
		t.Fatal(err)
	}
	if l := only(t, dir, time.Now()); l.Stays != "tables is a link, and snag writes none" {
		t.Errorf("a link in a recording: %q", l.Stays)
	}
	if _, err := os.Stat(filepath.Join(aim, "tables/sockets.jsonl")); err != nil {
		t.Error(err)
	}
}

func TestAPipeIsNotOpened(t *testing.T) {
	dir := t.TempDir()
	at := folder(t, dir, name1, nil)
	if err := unix.Mkfifo(filepath.Join(at, "manifest.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l := only(t, dir, time.Now()); l.Stays != "manifest.json is a pipe, and snag writes none" { // opening it would block
		t.Errorf("%q", l.Stays)
	}
}

func TestWhatIsBeingWrittenStays(t *testing.T) {
	dir := t.TempDir()
	at := folder(t, dir, name1, files{"manifest.json": manifest, "writer.lock": "4711\n"})
	f, err := os.Open(filepath.Join(at, "writer.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if l := only(t, dir, time.Now()); l.Stays != "it is being written now, by pid 4711" {
		t.Errorf("%q", l.Stays)
	}
	var busy *BusyError
	if err := Remove(Leftover{Path: at}); !errors.As(err, &busy) {
		t.Errorf("removed while it is written: %v", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if err := Remove(Leftover{Path: at}); err != nil {
		t.Error(err)
	}
}

func TestAgeIsOfWhatWasWrittenLast(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	at := folder(t, dir, name1, files{"manifest.json": manifest, "tables/sockets.jsonl": "{}"})
	old := now.Add(-48 * time.Hour)
	touch := func(name string) {
		t.Helper()
		if err := os.Chtimes(filepath.Join(at, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	touch("manifest.json")
	touch("tables")
	touch(".")
	if l := only(t, dir, now); l.Age > time.Hour {
		t.Errorf("a table was written now, and its age is %s", l.Age)
	}
	touch("tables/sockets.jsonl")
	if l := only(t, dir, now); l.Age < 47*time.Hour || l.Bytes != int64(len(manifest)+2) {
		t.Errorf("%+v", l)
	}
}
