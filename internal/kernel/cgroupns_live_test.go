package kernel

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// joins names the test binary that is to join and then to say in which namespace it is.
const joins = "SNAG_TEST_JOINS_CGROUPS"

func TestMain(m *testing.M) {
	if os.Getenv(joins) != "" {
		err := JoinCgroups("/proc")
		is, _ := os.Readlink("/proc/self/ns/cgroup")
		groups, _ := os.ReadFile("/proc/self/cgroup")
		fmt.Println(is, err, os.Args[1:], string(groups))
		return
	}
	os.Exit(m.Run())
}

// A program in a cgroup namespace of its own is started again in the host's, with its arguments; in the host's it is
// not.
func TestJoinCgroups(t *testing.T) {
	if os.Geteuid() != 0 || SeesPIDs("/proc") != nil {
		t.Skip("needs root, and the host's PIDs")
	}
	if own, _ := os.Readlink("/proc/self/ns/cgroup"); own != initialCgroups {
		t.Skip("needs the host's cgroup namespace")
	}
	group := newGroup(t)
	for _, flags := range []uintptr{0, unix.CLONE_NEWCGROUP} {
		cmd := exec.Command("/proc/self/exe", "one", "two")
		cmd.Env = append(os.Environ(), joins+"=yes")
		// The child unshares when it is in the group: that is what its namespace then begins at.
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd()), Unshareflags: flags}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := string(out); !strings.HasPrefix(got, initialCgroups+" <nil> [one two]") || !strings.Contains(got, "0::/"+filepath.Base(group.Name())) {
			t.Errorf("with flags %#x: %s", flags, got)
		}
	}
}

// newGroup makes a control group and removes it when the test has ended.
func newGroup(t *testing.T) *os.File {
	t.Helper()
	root := "/sys/fs/cgroup"
	if _, err := os.Stat(root + "/cgroup.controllers"); err != nil {
		root += "/unified"
	}
	dir, err := os.MkdirTemp(root, "snag-test-")
	if err != nil {
		t.Skip("needs cgroup2: ", err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
