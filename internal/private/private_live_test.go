package private

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestNew(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	a, err := New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(time.Now())
	if err != nil || a == b {
		t.Fatal(a, b, err)
	}
	if st, err := os.Stat(a); err != nil || st.Mode().Perm() != 0o700 {
		t.Error(st.Mode(), err)
	}
}

func TestFoldersThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		make func(path string) error
		want string // "" is taken
	}{
		{"new", func(string) error { return nil }, ""},
		{"new below a new one/a", func(string) error { return nil }, ""},
		{"own", func(p string) error { return os.Mkdir(p, 0o755) }, ""},
		{"link", func(p string) error { return os.Symlink(dir, p) }, "is a link"},
		{"link to nothing", func(p string) error { return os.Symlink("/nothing", p) }, "is a link"},
		{"open to all", func(p string) error { _ = os.Mkdir(p, 0o777); return os.Chmod(p, 0o777) }, "others may write"},
		{"a file", func(p string) error { return os.WriteFile(p, nil, 0o600) }, "not a directory"},
		{"another's", func(p string) error { _ = os.Mkdir(p, 0o700); return os.Chown(p, 1, 1) }, "belongs to daemon"},
	} {
		path := filepath.Join(dir, c.name)
		if err := c.make(path); err != nil {
			if os.Geteuid() != 0 {
				t.Logf("%s: not tested: %v", c.name, err)
				continue
			}
			t.Fatal(err)
		}
		f, err := Open(path)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err == nil {
			_ = f.Close()
		}
	}
}

// Whoever owns the folder above may give its name to something else: what is written goes on into
// the folder that was opened.
func TestFolderThatIsReplaced(t *testing.T) {
	dir := t.TempDir()
	name, victim := filepath.Join(dir, "rec"), filepath.Join(dir, "victim")
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Mkdir(victim, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name, name+".gone"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, name); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.Path(), "manifest.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(name+".gone", "manifest.json")); err != nil {
		t.Error(err)
	}
	if there, _ := os.ReadDir(victim); len(there) > 0 {
		t.Error("written through the link")
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		make func(path string) error
	}{
		{"new", func(string) error { return nil }},
		{"file", func(p string) error { return os.WriteFile(p, []byte("old"), 0o644) }},
		{"link", func(p string) error { return os.Symlink(secret, p) }},
		{"hard link", func(p string) error { return os.Link(secret, p) }},
		{"link to a device", func(p string) error { return os.Symlink("/dev/null", p) }},
		{"link to nothing", func(p string) error { return os.Symlink(filepath.Join(dir, "nothing"), p) }},
	} {
		for _, how := range []string{"whole", "bit by bit"} {
			path := filepath.Join(dir, how+c.name)
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			if err := write(how, path); err != nil {
				t.Errorf("%s, %s: %v", c.name, how, err)
				continue
			}
			b, err := os.ReadFile(path)
			st, statErr := os.Lstat(path)
			if err != nil || statErr != nil || string(b) != "new" || st.Mode() != 0o600 {
				t.Errorf("%s, %s: %q, %v, %v", c.name, how, b, st.Mode(), err)
			}
		}
	}
	if b, _ := os.ReadFile(secret); string(b) != "secret" {
		t.Errorf("written through a link: %q", b)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	for _, path := range []string{dir, filepath.Join(dir, "none", "x")} {
		if err := write("whole", path); err == nil {
			t.Errorf("written to %s", path)
		}
	}
}

func write(how, path string) error {
	if how == "whole" {
		return Write(path, []byte("new"))
	}
	f, err := Create(path)
	if err != nil {
		return err
	}
	_, err = f.WriteString("new")
	return firstOf(err, f.Close())
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A pipe is written to where it is the user's own.
func TestWriteToAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		b, err := os.ReadFile(path)
		got <- fmt.Sprint(string(b), err)
	}()
	if err := Write(path, []byte("page")); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != "page<nil>" {
		t.Error(s)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can make somebody else's pipe")
	}
	if err := os.Chown(path, 1, 1); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("page")); err == nil || !strings.Contains(err.Error(), "belongs to") {
		t.Error(err)
	}
}
