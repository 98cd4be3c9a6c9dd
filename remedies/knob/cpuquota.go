package knob

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"snag/remedies/plan"
)

// cpuQuota is how much CPU time a control group may use in each period, as cpu.max
// writes it: "50000 100000" is half a CPU, "max 100000" no limit (µs). Version 1 has
// it in two files.
type cpuQuota struct{}

func (cpuQuota) Valid(t plan.Target, value string) error {
	if t.Path == "" || t.Path != path.Clean(t.Path) || !strings.HasPrefix(t.Path, "/") || t.Path == "/" {
		return fmt.Errorf("%q is not a control group: it is its path below the hierarchy's root, as /system.slice/nginx.service", t.Path)
	}
	_, _, err := parseQuota(value)
	return err
}

// parseQuota reads "QUOTA PERIOD"; 0 is no limit. Bounds: kernel/sched/core.c,
// min_cfs_quota_period and max_cfs_quota_period.
func parseQuota(value string) (quota, period int64, err error) {
	f := strings.Fields(value)
	if len(f) != 2 {
		return 0, 0, fmt.Errorf("a quota is \"QUOTA PERIOD\" in µs, or \"max PERIOD\", not %q", value)
	}
	if err := whole("the period, µs,", f[1], 1000, 1_000_000); err != nil {
		return 0, 0, err
	}
	period, _ = strconv.ParseInt(f[1], 10, 64)
	if f[0] == "max" {
		return 0, period, nil
	}
	if err := whole("the quota, µs a period,", f[0], 1000, 1<<44); err != nil {
		return 0, 0, err
	}
	quota, _ = strconv.ParseInt(f[0], 10, 64)
	return quota, period, nil
}

func (cpuQuota) Read(h Host, t plan.Target) (string, error) {
	v2 := filepath.Join(h.Sys, "fs/cgroup", t.Path, "cpu.max")
	value, err := readFile(v2)
	if !errors.Is(err, ErrAbsent) {
		return value, err
	}
	quota, err := readFile(h.cgroup1(t, "cpu.cfs_quota_us"))
	if err != nil {
		return "", err
	}
	period, err := readFile(h.cgroup1(t, "cpu.cfs_period_us"))
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(quota, "-") {
		quota = "max"
	}
	return quota + " " + period, nil
}

// Write sets version 1's period before its quota: the quota alone may be more than
// the old period allows on one CPU, and no more than that is refused.
func (cpuQuota) Write(h Host, t plan.Target, value string) error {
	quota, period, err := parseQuota(value)
	if err != nil {
		return err
	}
	v2 := filepath.Join(h.Sys, "fs/cgroup", t.Path, "cpu.max")
	if _, err := readFile(v2); !errors.Is(err, ErrAbsent) {
		return writeFile(v2, value)
	}
	if quota == 0 {
		quota = -1
	}
	if err := writeFile(h.cgroup1(t, "cpu.cfs_period_us"), strconv.FormatInt(period, 10)); err != nil {
		return err
	}
	return writeFile(h.cgroup1(t, "cpu.cfs_quota_us"), strconv.FormatInt(quota, 10))
}

func (h Host) cgroup1(t plan.Target, file string) string {
	return filepath.Join(h.Sys, "fs/cgroup/cpu", t.Path, file)
}

func (cpuQuota) Same(_ plan.Target, a, b string) bool {
	q1, p1, err1 := parseQuota(a)
	q2, p2, err2 := parseQuota(b)
	return err1 == nil && err2 == nil && q1 == q2 && p1 == p2
}
