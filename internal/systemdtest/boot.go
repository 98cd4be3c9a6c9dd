package systemdtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Boot runs a script that makes namespaces (unshare(1) with these flags, mounts
// private) and ends in exec unshare … systemd as their first process, and returns that
// one's number, as this namespace has it, once systemd listens. The script is given dir,
// below which it may mount a control group hierarchy at dir/cgroup, and the name of a
// group of its own there. All of it ends with the test.
//
// What the script leaves of the machine's units and disk, systemd starts and writes: it
// must hide them.
func Boot(t testing.TB, flags []string, script, dir string) (pid int) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("namespaces take root")
	}
	if _, err := os.Stat("/lib/systemd/systemd"); err != nil {
		t.Fatal("make setup installs systemd:", err)
	}
	group := fmt.Sprintf("snagtest%d-%d", os.Getpid(), time.Now().UnixNano())
	private := func(flags []string, script string) *exec.Cmd {
		return exec.Command("unshare", append(append([]string{}, flags...), "-m", "--propagation", "private", "sh", "-c", script, "sh", dir, group)...)
	}
	cmd := private(flags, script)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if pid != 0 {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
		const remove = `mount -t cgroup2 none "$1/cgroup" && find "$1/cgroup/$2" -depth -type d -exec rmdir {} +`
		for range 20 { // until the last process of the group is gone
			if private(nil, remove).Run() == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	own := strconv.Itoa(cmd.Process.Pid)
	for range 100 {
		time.Sleep(100 * time.Millisecond)
		// unshare forks once: its child is the first process in there.
		b, _ := os.ReadFile("/proc/" + own + "/task/" + own + "/children")
		n, err := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil {
			continue
		}
		pid = n
		if _, err := os.Stat(fmt.Sprintf("/proc/%d/root/run/systemd/private", n)); err == nil {
			return pid
		}
	}
	t.Fatal("systemd did not start in namespaces")
	return 0
}
