package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cgroup roots: version 1's cpu controller where it is mounted, else version 2.
const (
	cgroupV1 = "/sys/fs/cgroup/cpu"
	cgroupV2 = "/sys/fs/cgroup"
)

// Cgroup is a control group of the stage with a CPU limit.
type Cgroup struct {
	Path    string
	Version int
	disk    string // "8:0", of SlowDisk
}

// cgroupPeriod is the kernel's default CFS period (Documentation/scheduler/sched-bwc.rst).
const cgroupPeriod = 100 * time.Millisecond

// Cgroup makes a control group that may use that share of one CPU; 0 is no limit.
func (s *Stage) Cgroup(short string, share float64) *Cgroup {
	c := &Cgroup{Version: 1, Path: filepath.Join(cgroupV1, s.id+"-"+short)}
	if _, err := os.Stat(filepath.Join(cgroupV1, "cpu.cfs_quota_us")); err != nil {
		c = &Cgroup{Version: 2, Path: filepath.Join(cgroupV2, s.id+"-"+short)}
	}
	if s.Err() != nil {
		return c
	}
	s.remember(item{Kind: kindCgroup, Path: c.Path})
	if err := os.Mkdir(c.Path, 0o755); err != nil {
		s.fail(fmt.Errorf("lab: make cgroup %s: %w", c.Path, err))
		return c
	}
	if share > 0 {
		s.fail(c.Limit(share))
	}
	return c
}

// Limit sets the share of one CPU that the group may use, or takes the limit away by 0.
func (c *Cgroup) Limit(share float64) error {
	quota := int64(share * float64(cgroupPeriod.Microseconds()))
	file, text := "cpu.cfs_quota_us", strconv.FormatInt(quota, 10)
	if share == 0 {
		text = "-1"
	}
	if c.Version == 2 {
		file, text = "cpu.max", fmt.Sprintf("%d %d", quota, cgroupPeriod.Microseconds())
		if share == 0 {
			text = fmt.Sprintf("max %d", cgroupPeriod.Microseconds())
		}
	}
	if err := os.WriteFile(filepath.Join(c.Path, file), []byte(text), 0); err != nil {
		return fmt.Errorf("lab: limit cgroup %s: %w", c.Path, err)
	}
	return nil
}

func (c *Cgroup) procs() string { return filepath.Join(c.Path, "cgroup.procs") }

// Throttled returns how many of how many periods were throttled.
func (c *Cgroup) Throttled() (throttled, periods uint64, err error) {
	raw, err := os.ReadFile(filepath.Join(c.Path, "cpu.stat"))
	if err != nil {
		return 0, 0, fmt.Errorf("lab: read cpu.stat of cgroup %s: %w", c.Path, err)
	}
	for _, line := range strings.Split(string(raw), "\n") {
		f := strings.Fields(line)
		if len(f) != 2 {
			continue
		}
		switch n, _ := strconv.ParseUint(f[1], 10, 64); f[0] {
		case "nr_throttled":
			throttled = n
		case "nr_periods":
			periods = n
		}
	}
	return throttled, periods, nil
}

// removeCgroup waits a little: a group stays busy until its dead are collected.
func removeCgroup(path string) error {
	var err error
	for range 500 {
		err = os.Remove(path)
		if err == nil || errors.Is(err, os.ErrNotExist) {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
