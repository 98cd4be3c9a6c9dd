package fleet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"snag/lab"
)

// apart puts this process, and so all that it starts from now on, into a control group of its own that gets a hundred
// times the CPU weight of the machine's other work: builds beside it would have the services wait, and the recorders,
// which run with low priority, not run at all. back takes the process out again, so that the group can be removed.
func (f *Fleet) apart() (back func() error, err error) {
	group := f.Cgroup("fleet", 0)
	if f.Err() != nil {
		return nil, f.Err()
	}
	root := filepath.Dir(group.Path)
	raw, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	home := filepath.Join(root, groupOf(string(raw), group.Version))
	if err := errors.Join(outweigh(group), enter(group.Path, os.Getpid())); err != nil {
		return nil, err
	}
	return func() error { return enter(home, os.Getpid()) }, nil
}

func enter(group string, pid int) error {
	return os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(fmt.Sprint(pid)), 0)
}

// outweigh gives a group a hundred times the usual weight (cpu.shares of version 1 is 1024, cpu.weight of
// version 2 100).
func outweigh(c *lab.Cgroup) error {
	if c.Version == 1 {
		return os.WriteFile(filepath.Join(c.Path, "cpu.shares"), []byte("102400"), 0)
	}
	return os.WriteFile(filepath.Join(c.Path, "cpu.weight"), []byte("10000"), 0)
}

// groupOf is the path of the group that a process is in, of its /proc/PID/cgroup: with version 1 that of the cpu
// controller.
func groupOf(cgroups string, version int) string {
	for line := range strings.Lines(cgroups) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) == 3 && (version == 2 && f[0] == "0" || version == 1 && strings.Contains(","+f[1]+",", ",cpu,")) {
			return f[2]
		}
	}
	return "/"
}
