package objects

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func aFolder(t *testing.T, dir string) Store {
	t.Helper()
	s, err := Open(Where{URL: "file://" + dir, Env: with()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const aName = "web1/20261128T141828Z-1/recording.snag"

func text(t *testing.T, s Store, name string) string {
	t.Helper()
	r, err := s.Get(t.Context(), name)
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// atTheEnd says what a reader of the store sees while a file is written.
type atTheEnd struct {
	io.Reader
	look func()
}

func (a atTheEnd) Read(b []byte) (int, error) {
	n, err := a.Reader.Read(b)
	if errors.Is(err, io.EOF) {
		a.look()
	}
	return n, err
}

func (atTheEnd) Seek(int64, int) (int64, error) { return 0, nil }

// A reader sees what was there before, or all of it.
func TestAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := aFolder(t, dir)
	if err := s.Put(t.Context(), aName, strings.NewReader("before"), 6); err != nil {
		t.Fatal(err)
	}
	seen := ""
	if err := s.Put(t.Context(), aName, atTheEnd{strings.NewReader("afterwards"), func() {
		seen = text(t, s, aName)
		if err := s.List(t.Context(), "", func(name string) bool { seen += " " + name; return true }); err != nil {
			t.Error(err)
		}
	}}, 10); err != nil {
		t.Fatal(err)
	}
	if seen != "before "+aName || text(t, s, aName) != "afterwards" {
		t.Errorf("%q, then %q", seen, text(t, s, aName))
	}
	if st, err := os.Stat(filepath.Join(dir, aName)); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	if _, err := s.Get(t.Context(), "web1/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := s.Put(t.Context(), aName, strings.NewReader("cut"), 10); err == nil || text(t, s, aName) != "afterwards" {
		t.Errorf("%v: %q", err, text(t, s, aName))
	}
	if left := hidden(t, dir); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// hidden are files that are not whole.
func hidden(t *testing.T, dir string) (out []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "web1/*/.*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What is wrong with a folder is said with what to do.
func TestFoldersThatFail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside")
	in := filepath.Join(dir, "in")
	file := filepath.Join(dir, "file")
	if err := errors.Join(os.Mkdir(outside, 0o700), os.Mkdir(in, 0o700), os.Symlink(outside, filepath.Join(in, "web1")), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{filepath.Join(dir, "none"): "make the folder, or mount it", in: "path escapes", file: "not a directory"} {
		err := aFolder(t, at).Put(t.Context(), aName, strings.NewReader("a"), 1)
		var f *Failed
		if !errors.As(err, &f) || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "file://"+at+": write "+aName+": ") {
			t.Errorf("%s: %v", at, err)
		}
	}
	if all, err := os.ReadDir(outside); err != nil || len(all) > 0 {
		t.Errorf("written through a link: %v, %v", all, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not mounted was made")
	}
}

const roleEnv = "SNAG_OBJECTS_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "":
		os.Exit(m.Run())
	case "small-disk":
		roleSmallDisk()
	case "put":
		rolePut()
	}
}

// A full disk leaves nothing that is half written, and what was there.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=small-disk", "SNAG_TEST_DIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) || strings.Contains(string(out), "mount tmpfs:") {
		t.Skipf("this user may not mount a tmpfs in its own namespace: %v %s", err, out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := string(out)
	if !strings.Contains(got, "Full file://"+dir+": write "+aName) || !strings.Contains(got, "make room there") || !strings.HasSuffix(got, "small, left: 0\n") {
		t.Errorf("%s", got)
	}
}

// roleSmallDisk writes what fits and what does not.
func roleSmallDisk() {
	dir := os.Getenv("SNAG_TEST_DIR")
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		fail("mount tmpfs: " + err.Error())
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		fail("mount tmpfs: " + err.Error())
	}
	s, err := Open(Where{URL: "file://" + dir, Env: with()})
	if err != nil {
		fail(err.Error())
	}
	if err := s.Put(context.Background(), aName, strings.NewReader("small"), 5); err != nil {
		fail(err.Error())
	}
	large := strings.Repeat("x", 1<<20)
	err = s.Put(context.Background(), aName, strings.NewReader(large), int64(len(large)))
	var f *Failed
	if !errors.As(err, &f) {
		fail("it is not full")
	}
	b, readErr := os.ReadFile(filepath.Join(dir, aName))
	left, globErr := filepath.Glob(filepath.Join(dir, "web1/*/.*"))
	if err := errors.Join(readErr, globErr); err != nil {
		fail(err.Error())
	}
	_, _ = io.WriteString(os.Stdout, f.Code+" "+err.Error()+"\n"+string(b)+", left: "+string(rune('0'+len(left)))+"\n")
}

func fail(text string) {
	_, _ = io.WriteString(os.Stderr, text+"\n")
	os.Exit(1)
}

// kill -9 in the middle leaves a file that no reader sees, and that the next try removes.
func TestKilledWhileAFolderIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := aFolder(t, dir)
	killInTheMiddle(t, "file://"+dir, "", func() bool { return len(hidden(t, dir)) > 0 })
	if got := text(t, s, aName); !strings.Contains(got, "no such file") {
		t.Errorf("half of it is seen: %d bytes", len(got))
	}
	if err := s.List(t.Context(), "", func(name string) bool { t.Errorf("%s is listed", name); return true }); err != nil {
		t.Error(err)
	}
	if len(hidden(t, dir)) != 1 {
		t.Errorf("%q", hidden(t, dir))
	}
	if err := s.Put(t.Context(), aName, strings.NewReader("whole"), 5); err != nil || text(t, s, aName) != "whole" || len(hidden(t, dir)) > 0 {
		t.Errorf("%v, left: %q", err, hidden(t, dir))
	}
}

// killInTheMiddle has another process put 4 MB slowly, and kills it once it is seen to have begun.
func killInTheMiddle(t *testing.T, url, endpoint string, begun func() bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=put", "SNAG_TEST_URL="+url, "SNAG_TEST_ENDPOINT="+endpoint)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "that it began", begun)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("it ended before it was killed: %v", err)
	}
}

func rolePut() {
	w := Where{URL: os.Getenv("SNAG_TEST_URL"), Endpoint: os.Getenv("SNAG_TEST_ENDPOINT"), Env: os.Getenv, Rate: 128 << 10}
	s, err := Open(w)
	if err == nil {
		err = s.Put(context.Background(), aName, strings.NewReader(strings.Repeat("x", 4<<20)), 4<<20)
	}
	if err != nil {
		fail(err.Error())
	}
}

// Put sends no faster than it is allowed to.
func TestPace(t *testing.T) {
	t.Parallel()
	s, err := Open(Where{URL: "file://" + t.TempDir(), Env: with(), Rate: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200e6)
	defer cancel()
	if err := s.Put(ctx, aName, strings.NewReader(strings.Repeat("x", 1<<20)), 1<<20); err == nil || text(t, s, aName) == "" {
		t.Errorf("1 MB in 0.2 s at 256 KB per second: %v", err)
	}
	if err := s.Put(t.Context(), aName, strings.NewReader(strings.Repeat("x", 128<<10)), 128<<10); err != nil {
		t.Error(err)
	}
}
