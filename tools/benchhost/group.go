// Package benchhost has what benches need of the host: a control group that counts the CPU time of what runs in
// it, a network namespace of their own, and what is to be said of the machine.
package benchhost

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Group is a control group (version 2) for the processes of a program. Its cpu.stat counts those that came and
// went as well: a server that forks, one process for each connection, can't be added up by process id. It is
// there without any controller (Documentation/admin-guide/cgroup-v2.rst, "cpu.stat").
type Group struct {
	path string
	dir  *os.File
}

// UnifiedRoot is where version 2 is mounted, alone or beside version 1.
func UnifiedRoot() (string, error) {
	f, err := os.Open("/proc/self/mounts")
	if err != nil {
		return "", err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if w := strings.Fields(s.Text()); len(w) > 2 && w[2] == "cgroup2" {
			return w[1], nil
		}
	}
	return "", errors.New("no cgroup2 is mounted: mount -t cgroup2 none /sys/fs/cgroup")
}

// NewGroup makes one, whose name begins with that of the program.
func NewGroup(name string) (*Group, error) {
	root, err := UnifiedRoot()
	if err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(root, name+"-")
	if err != nil {
		return nil, fmt.Errorf("make a control group: %w", err)
	}
	dir, err := os.Open(path)
	if err != nil {
		os.Remove(path)
		return nil, err
	}
	return &Group{path, dir}, nil
}

// Put has a command start in the group, and end with this program.
func (g *Group) Put(cmd *exec.Cmd) *exec.Cmd {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	a := cmd.SysProcAttr
	a.UseCgroupFD, a.CgroupFD, a.Pdeathsig = true, int(g.dir.Fd()), syscall.SIGKILL
	return cmd
}

// CPU is what all that ran in the group has used so far.
func (g *Group) CPU() (time.Duration, error) {
	b, err := os.ReadFile(filepath.Join(g.path, "cpu.stat"))
	if err != nil {
		return 0, err
	}
	return parseUsage(b)
}

func parseUsage(stat []byte) (time.Duration, error) {
	for line := range bytes.Lines(stat) {
		if word, ok := bytes.CutPrefix(line, []byte("usage_usec ")); ok {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(word)), 10, 64)
			return time.Duration(n) * time.Microsecond, err
		}
	}
	return 0, errors.New("cpu.stat has no usage_usec")
}

func (g *Group) pids() []string {
	b, _ := os.ReadFile(filepath.Join(g.path, "cgroup.procs")) // without: the group has gone
	return strings.Fields(string(b))
}

// Memory is the proportional set size of its processes, bytes: what several share is divided among them.
func (g *Group) Memory() (sum int64) {
	for _, pid := range g.pids() {
		b, err := os.ReadFile("/proc/" + pid + "/smaps_rollup")
		if err != nil {
			continue // it ended
		}
		sum += parsePSS(b)
	}
	return sum
}

func parsePSS(rollup []byte) int64 {
	for line := range bytes.Lines(rollup) {
		if w := bytes.Fields(line); len(w) > 1 && string(w[0]) == "Pss:" {
			n, _ := strconv.ParseInt(string(w[1]), 10, 64) // the kernel's own number
			return n << 10
		}
	}
	return 0
}

// End kills what is left in it and removes it.
func (g *Group) End() (err error) {
	defer g.dir.Close()
	for range 250 { // the kernel refuses while one of them is still ending
		if err = os.Remove(g.path); err == nil {
			return nil
		}
		_ = os.WriteFile(filepath.Join(g.path, "cgroup.kill"), []byte("1"), 0)
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
