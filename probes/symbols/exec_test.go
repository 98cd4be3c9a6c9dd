package symbols

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A stack that was taken before an exec and is read after it is named by what ran
// then; one of what runs now by that.
func TestStacksOfBeforeAnExec(t *testing.T) {
	c := exec.Command("bash", "-c", "read; exec sleep 60")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	pid := c.Process.Pid
	was := codeOf(t, pid, "bash")
	r := New("/proc")
	defer r.Close()
	r.Hold(pid, []uint64{was})
	if _, err := io.WriteString(in, "go\n"); err != nil {
		t.Fatal(err)
	}
	now := codeOf(t, pid, "sleep")
	for _, told := range []bool{true, false} { // by the kernel's event, and by a look of its own
		if told {
			r.Forget(pid)
		} else {
			r.now = func() time.Time { return time.Now().Add(time.Hour) }
		}
		for want, at := range map[string]uint64{"bash": was, "sleep": now} {
			frames := r.In(r.Hold(pid, []uint64{at}), []uint64{at})
			if len(frames) != 1 || filepath.Base(frames[0].Object) != want {
				t.Errorf("%#x, told %v: %+v, want a frame of %s", at, told, frames, want)
			}
		}
	}
}

// codeOf waits until a process runs a program, and gives an address of its code.
func codeOf(t *testing.T, pid int, program string) uint64 {
	t.Helper()
	for range 1000 {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(b), "\n") {
			f := strings.Fields(line)
			if len(f) == 6 && strings.Contains(f[1], "x") && filepath.Base(f[5]) == program {
				var start uint64
				if _, err := fmt.Sscanf(f[0], "%x-", &start); err != nil {
					t.Fatal(err)
				}
				return start + 0x1000
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("process %d never ran %s", pid, program)
	return 0
}
