package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// group is a control group (version 2) for the processes of one program of a recorder.
// Its cpu.stat counts the children that came and went as well, and is there without any
// controller (Documentation/admin-guide/cgroup-v2.rst, "cpu.stat").
type group struct{ path string }

// unifiedRoot is where version 2 is mounted, alone or beside version 1.
func unifiedRoot() (string, error) {
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

func newGroup(name string) (*group, error) {
	root, err := unifiedRoot()
	if err != nil {
		return nil, err
	}
	g := &group{filepath.Join(root, fmt.Sprintf("bench-record-%d-%s", os.Getpid(), name))}
	if err := os.Mkdir(g.path, 0o755); err != nil {
		return nil, err
	}
	return g, nil
}

// cpu is what its processes have used so far.
func (g *group) cpu() (time.Duration, error) {
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

func (g *group) pids() []string {
	b, _ := os.ReadFile(filepath.Join(g.path, "cgroup.procs")) // without: the group has gone
	return strings.Fields(string(b))
}

// memory is the proportional set size of its processes, bytes: what several share is
// divided among them.
func (g *group) memory() (sum int64) {
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

// end kills what is left in it and removes it.
func (g *group) end() error {
	for range 50 {
		if len(g.pids()) == 0 {
			break
		}
		_ = os.WriteFile(filepath.Join(g.path, "cgroup.kill"), []byte("1"), 0)
		time.Sleep(100 * time.Millisecond)
	}
	return os.Remove(g.path)
}
