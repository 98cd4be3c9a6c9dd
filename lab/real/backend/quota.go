package backend

import (
	"fmt"
	"os"
	"path/filepath"

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
