package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// group is a control group (version 2) for the processes of a load. It counts the CPU time of
// those that ended too: a server that forks, one process for each connection, can't be added up
// by process id.
type group struct {
	path string
	dir  *os.File
}

func newGroup() (*group, error) {
	mounted := "/sys/fs/cgroup"
	if _, err := os.Stat(filepath.Join(mounted, "unified")); err == nil { // version 1 beside it
		mounted = filepath.Join(mounted, "unified")
	}
	path, err := os.MkdirTemp(mounted, "snag-bench")
	if err != nil {
		return nil, fmt.Errorf("make a control group for the load: %w", err)
	}
	dir, err := os.Open(path)
	if err != nil {
		os.Remove(path)
		return nil, err
	}
	return &group{path, dir}, nil
}

// put has a command start in the group, and end with this program.
func (g *group) put(cmd *exec.Cmd) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(g.dir.Fd()), Pdeathsig: syscall.SIGKILL}
	return cmd
}

// used is the CPU time of all that ran in the group.
func (g *group) used() (time.Duration, error) {
	stat, err := os.ReadFile(filepath.Join(g.path, "cpu.stat"))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(stat), "\n")
	n, err := strconv.ParseInt(strings.TrimPrefix(first, "usage_usec "), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read %s: %q is no usage_usec", g.path, first)
	}
	return time.Duration(n) * time.Microsecond, nil
}

// end kills what is left in the group and removes it.
func (g *group) end() {
	_ = os.WriteFile(filepath.Join(g.path, "cgroup.kill"), []byte("1"), 0)
	for range 50 { // the kernel refuses while one of them is still ending
		if os.Remove(g.path) == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	g.dir.Close()
}
