package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/internal/built"
	"snag/internal/cli"
	"snag/readers"
	"snag/readers/reader"
)

// readMemory is what snag read may take of any file, bytes; longest is how long one
// of these files may take on a busy machine: it is there to find what has no end.
const (
	readMemory = 80 << 20
	longest    = 2 * time.Minute
)

// kinds are the beginnings of one file of each format, up to a line's end where it
// has lines.
func kinds(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	walk := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(path, "/testdata/") || strings.Contains(path, "/fuzz/") {
			return err
		}
		in, err := reader.Open(path)
		if err != nil {
			return nil // a reader's own hostile file
		}
		defer in.Close()
		for _, f := range readers.Formats {
			if f.Sniff(in.Head()) {
				if all[f.Name] == nil {
					head := bytes.Clone(in.Head())
					all[f.Name] = head[:bytes.LastIndexByte(head, '\n')+1]
					if len(all[f.Name]) == 0 {
						all[f.Name] = head
					}
				}
				break
			}
		}
		return nil
	}
	for _, root := range []string{"../../readers", "../../internal/gclog/testdata", "../../report/profile/testdata", "../../probes/streams/passive/testdata"} {
		if err := filepath.WalkDir(root, walk); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// snagRead runs the command snag (the test's own program has more to map) and gives what it said, its exit code and
// the most memory that it had.
func snagRead(t *testing.T, snag string, stdin io.Reader, args ...string) (stdout, stderr string, code int, rss int64) {
	t.Helper()
	cmd := exec.Command(snag, append([]string{"read", "--out", filepath.Join(t.TempDir(), "out")}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(longest, func() { _ = cmd.Process.Signal(syscall.SIGABRT) })
	peak := make(chan int64, 1)
	go func() { peak <- peakMemory(cmd.Process.Pid) }()
	err := cmd.Wait()
	if !late.Stop() {
		t.Errorf("snag read %v had no end within %v", args, longest)
	}
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode(), <-peak
}

// peakMemory follows a process to its end: VmHWM of /proc/PID/status.
func peakMemory(pid int) (rss int64) {
	for {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, after, ok := strings.Cut(string(b), "VmHWM:")
		if err != nil || !ok {
			return rss
		}
		kb, _ := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
		rss = kb << 10
		time.Sleep(5 * time.Millisecond)
	}
}

// Whatever a file holds, snag comes to an end, within its memory, and says in words
// what it could not read.
func TestReadHoldsAgainstAnyFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	snag := filepath.Join(dir, "snag")
	built.Program(t, "snag", snag)
	for name, head := range kinds(t) {
		hole := filepath.Join(dir, name+".hole")
		if err := os.WriteFile(hole, head, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(hole, 10<<30); err != nil {
			t.Fatal(err)
		}
		long := int64(100 << 20)
		if name == "strace" {
			long = 1 << 30 // what takes longest is to write it
		}
		for what, run := range map[string]func() (string, string, int, int64){
			"a hole of 10 GB": func() (string, string, int, int64) { return snagRead(t, snag, nil, "-q", hole) },
			"a line of a gigabyte": func() (string, string, int, int64) {
				return snagRead(t, snag, io.MultiReader(bytes.NewReader(head), io.LimitReader(same('x'), long)), "-q", "-")
			},
			"a gzip bomb": func() (string, string, int, int64) {
				return snagRead(t, snag, bytes.NewReader(bomb(head, 200<<20)), "-q", "-")
			},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				stdout, stderr, code, rss := run()
				sane(t, stdout, stderr, code)
				if rss > readMemory {
					t.Errorf("it took %d MB", rss>>20)
				}
				t.Logf("%d MB", rss>>20)
			})
		}
		_ = os.Remove(hole)
	}
}

// sane wants a verdict, or one line that says why there is none.
func sane(t *testing.T, stdout, stderr string, code int) {
	t.Helper()
	switch {
	case strings.Contains(stderr, "panic") || strings.Contains(stderr, "goroutine "):
		t.Errorf("%.2000s", stderr)
	case code == cli.ExitNothing || code == cli.ExitCulprit:
		if !strings.Contains(stdout, "CULPRIT") && !strings.Contains(stdout, "NOTHING WRONG") || stderr != "" {
			t.Errorf("exit %d: %.500s\n%.500s", code, stdout, stderr)
		}
	case code == cli.ExitCantTell:
		if !strings.Contains(stdout, "NO CULPRIT NAMED") && !strings.Contains(stdout, "NO FAULT SEEN") || stderr != "" {
			t.Errorf("exit %d: %.500s\n%.500s", code, stdout, stderr)
		}
	case code == cli.ExitFailed:
		if strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "snag: read ") || stdout != "" {
			t.Errorf("exit %d: %.500s\n%.500s", code, stdout, stderr)
		}
	default:
		t.Errorf("exit %d: %.500s", code, stderr)
	}
}

type same byte

func (s same) Read(p []byte) (int, error) {
	p[0] = byte(s)
	for n := 1; n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
	return len(p), nil
}

// bomb packs a head and so many zeros behind it: a thousandth of its size.
func bomb(head []byte, zeros int64) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, _ = z.Write(head)
	_, _ = io.CopyN(z, same(0), zeros)
	_ = z.Close()
	return b.Bytes()
}

// What is no file to read is one line that says what it is.
func TestReadRefusesInOneLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	snag := filepath.Join(dir, "snag")
	built.Program(t, "snag", snag)
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/dev/null":           "it is empty",
		"/dev/zero":           "unrecognised format",
		dir + "/nowhere":      "no such file",
		dir + "/secret/inner": "not a directory",
	} {
		_, stderr, code, rss := snagRead(t, snag, nil, path)
		if code != cli.ExitFailed || stderr != "snag: read "+path+": "+want && !strings.HasPrefix(stderr, "snag: read "+path+": "+want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d: %s", path, code, stderr)
		}
		if rss > readMemory {
			t.Errorf("%s took %d MB", path, rss>>20)
		}
	}
}

// A set of strace -ff has a file for each thread, and a server thousands.
func TestReadOfThousandsOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	snag := filepath.Join(dir, "snag")
	built.Program(t, "snag", snag)
	const files = 2000
	for i := range files {
		var b bytes.Buffer
		for n := range 20 {
			fmt.Fprintf(&b, "1700000000.%06d futex(0x7f0000001000, FUTEX_WAIT_PRIVATE, 2, NULL) = 0 <0.000%03d>\n", 10*i+n, i%1000)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("set.%d", 1000+i)), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stdout, stderr, code, rss := snagRead(t, snag, nil, "-q", filepath.Join(dir, "set"))
	sane(t, stdout, stderr, code)
	if rss > readMemory {
		t.Errorf("it took %d MB", rss>>20)
	}
	t.Logf("%d MB", rss>>20)
}

// A user reads what he may read: a file, and a folder, that are not his are each one line,
// and the files beside them are judged.
func TestReadOfWhatOneMayNotRead(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("to become another user needs root")
	}
	dir, err := os.MkdirTemp("/tmp", "snag-may-not-read") // nobody can reach what lies in root's own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	snag := filepath.Join(dir, "snag")
	built.Program(t, "snag", snag)
	log := []byte("2026-11-21T10:00:00Z error: connection reset by peer\n2026-11-21T10:00:09Z info: well\n")
	for name, mode := range map[string]os.FileMode{"mine.log": 0o644, "secret.log": 0o600, "folder/inner.log": 0o644, "mixed/secret.log": 0o600, "mixed/mine.log": 0o644, "mixed/closed/inner.log": 0o644} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, log, mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"": 0o755, "out": 0o777, "folder": 0o700, "mixed/closed": 0o700} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for i, x := range []struct {
		files []string
		code  int
		want  string // in what it says
		lines int    // of an error
	}{
		{[]string{"secret.log"}, cli.ExitFailed, "secret.log: permission denied", 1},
		{[]string{"folder"}, cli.ExitFailed, "folder: permission denied", 1},
		{[]string{"folder/inner.log"}, cli.ExitFailed, "permission denied", 1},
		{[]string{"mine.log", "secret.log"}, cli.ExitNothing, "secret.log: permission denied", 0},
		{[]string{"mixed"}, cli.ExitNothing, "mixed/secret.log: permission denied", 0},
		{[]string{"mixed"}, cli.ExitNothing, "mixed/closed: permission denied: what is in it is not judged", 0},
	} {
		args := []string{"read", "-q", "--out", filepath.Join(dir, "out", fmt.Sprint(i))}
		for _, f := range x.files {
			args = append(args, filepath.Join(dir, f))
		}
		cmd := exec.Command(snag, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "TMPDIR="+filepath.Join(dir, "out"))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, Pdeathsig: syscall.SIGKILL}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run() // its exit code is looked at
		if code := cmd.ProcessState.ExitCode(); code != x.code || !strings.Contains(out.String()+errs.String(), x.want) || strings.Count(errs.String(), "\n") != x.lines {
			t.Errorf("%v: exit %d, want %d with %q\n%s\n%s", x.files, code, x.code, x.want, errs.String(), out.String())
		}
	}
}
