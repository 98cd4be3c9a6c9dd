package syscalls

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"snag/probes/probe/probetest"
	"snag/recording"
)

// counts are calls and failures by name.
type counts map[string][2]uint64

// waiting starts the fixed program, which waits for a byte.
func waiting(t *testing.T, exe string) (*exec.Cmd, io.WriteCloser) {
	t.Helper()
	cmd := exec.Command(exe)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = io.Discard
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	time.Sleep(100 * time.Millisecond)
	return cmd, in
}

func byStrace(t *testing.T, exe string) counts {
	t.Helper()
	cmd, in := waiting(t, exe)
	out := filepath.Join(t.TempDir(), "counts")
	strace := exec.Command("strace", "-f", "-c", "-o", out, "-p", strconv.Itoa(cmd.Process.Pid))
	said, err := strace.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := strace.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || !strings.Contains(line, "attached") {
		_ = strace.Process.Kill()
		t.Fatalf("strace says %q, %v", line, err)
	}
	if _, err := in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := strace.Wait(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return parseStrace(t, b)
}

// parseStrace reads "% time seconds usecs/call calls [errors] syscall".
func parseStrace(t *testing.T, b []byte) counts {
	t.Helper()
	all := counts{}
	for _, l := range strings.Split(string(b), "\n") {
		f := strings.Fields(l)
		if len(f) < 5 || f[len(f)-1] == "total" {
			continue
		}
		n, err := strconv.ParseUint(f[3], 10, 64)
		if err != nil {
			continue
		}
		var failed uint64
		if len(f) == 6 {
			if failed, err = strconv.ParseUint(f[4], 10, 64); err != nil {
				t.Fatalf("strace: %q", l)
			}
		}
		all[f[len(f)-1]] = [2]uint64{n, failed}
	}
	return all
}

func bySnag(t *testing.T, exe string) counts {
	t.Helper()
	cmd, in := waiting(t, exe)
	sink := probetest.NewSink()
	r := begin(t, env(t, sink, cmd.Process.Pid))
	if _, err := in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	r.Stop()
	rec := sink.Recording()
	if c := coverageOf(t, rec, measureCalls); c.State != recording.CoverageOK {
		t.Fatalf("coverage %+v", c)
	}
	all := counts{}
	for _, row := range rec.Calls {
		n := all[row.Call]
		n[0] += row.N
		for _, failed := range row.Errors {
			n[1] += failed
		}
		all[row.Call] = n
	}
	return all
}

// fixedProgram compiles testdata/fixed.c.
func fixedProgram(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "fixed")
	if out, err := exec.Command("gcc", "-O1", "-pthread", "-o", exe, "testdata/fixed.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc (make setup installs it): %v: %s", err, bytes.TrimSpace(out))
	}
	return exe
}

func TestCompatCallsAreTheirOwn(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("int 0x80 is of amd64")
	}
	exe := fixedProgram(t)
	t.Setenv("COMPAT", "1")
	ours := bySnag(t, exe)
	if ours["getppid"][0] != 1700 {
		t.Errorf("getppid: %v", ours["getppid"])
	}
	if n := ours["getppid/32"]; n[0] != 150 {
		t.Errorf("32-bit getppid: %v in %v", n, ours)
	}
}

func TestCountsAreThoseOfStrace(t *testing.T) {
	exe := fixedProgram(t)
	ours, theirs := bySnag(t, exe), byStrace(t, exe)
	if theirs["getppid"][0] != 1700 || theirs["getuid"][0] != 2000 || theirs["getsid"] != [2]uint64{25, 25} {
		t.Fatalf("strace counts %v", theirs)
	}
	// How often threads meet at a lock is by chance. The poll that the program waits in
	// when it is attached to ends once for snag; strace interrupts it first, and may
	// miss that.
	for _, name := range []string{"futex", "poll", "restart_syscall"} {
		delete(ours, name)
		delete(theirs, name)
	}
	for name := range theirs {
		if ours[name] != theirs[name] {
			t.Errorf("%s: %v calls and failures, strace has %v", name, ours[name], theirs[name])
		}
	}
	for name := range ours {
		if _, ok := theirs[name]; !ok {
			t.Errorf("%s: %v, strace has none", name, ours[name])
		}
	}
}
