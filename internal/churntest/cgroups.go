package churntest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// groups are control groups of one folder, with one process each, for two seconds.
type groups struct {
	dir string
	n   atomic.Int64
}

// newGroups makes the folder: of version 1's cpu controller where it is mounted, else of version 2.
func newGroups() (*groups, error) {
	root := "/sys/fs/cgroup"
	if _, err := os.Stat(filepath.Join(root, "cpu", "cpu.shares")); err == nil {
		root = filepath.Join(root, "cpu")
	}
	g := &groups{dir: filepath.Join(root, fmt.Sprintf("snag-churn-%d", os.Getpid()))}
	if err := os.Mkdir(g.dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("make a control group: %w (it needs root)", err)
	}
	return g, nil
}

func (g *groups) once(ctx context.Context) error {
	dir := filepath.Join(g.dir, strconv.FormatInt(g.n.Add(1), 10))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "sleep", "2")
	err := cmd.Start()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(cmd.Process.Pid)), 0)
		_ = cmd.Wait() // it ends, or is ended with ctx
	}
	return errors.Join(err, removeGroup(dir))
}

// removeGroup removes a group whose last process has ended just now.
func removeGroup(dir string) (err error) {
	for range 100 {
		if err = os.Remove(dir); !errors.Is(err, unix.EBUSY) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

func (g *groups) remove() error { return removeGroup(g.dir) }
