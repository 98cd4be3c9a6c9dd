package backend

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"snag/lab"
	"snag/lab/drawn"
)

// Quota lets a control group use so many µs of CPU time in each 0.1 s; -1 is no limit.
func Quota(b *drawn.Bench, c *lab.Cgroup, micros int) {
	file, text := "cpu.cfs_quota_us", fmt.Sprint(micros)
	if c.Version == 2 {
		file, text = "cpu.max", fmt.Sprintf("%d 100000", micros)
		if micros < 0 {
			text = "max 100000"
		}
	}
	if err := os.WriteFile(filepath.Join(c.Path, file), []byte(text), 0); err != nil {
		b.Fail("the quota of "+c.Path, err)
	}
}

// DiskRate lets a control group that lab.Stage.SlowDisk made write so many bytes a second.
func DiskRate(b *drawn.Bench, c *lab.Cgroup, bytes int) {
	file, format := "blkio.throttle.write_bps_device", "%s %d"
	if c.Version == 2 {
		file, format = "io.max", "%s wbps=%d"
	}
	path := filepath.Join(c.Path, file)
	raw, err := os.ReadFile(path)
	if f := strings.Fields(string(raw)); err == nil && len(f) > 0 {
		err = os.WriteFile(path, fmt.Appendf(nil, format, f[0], bytes), 0)
	}
	if err != nil {
		b.Fail("the disk's rate of "+c.Path, err)
	}
}
