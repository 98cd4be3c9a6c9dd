package kernel

import "testing"

func TestHostCgroups(t *testing.T) {
	for line, want := range map[string]bool{
		"36 35 0:30 /../../.. /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n":   true,
		"36 35 0:30 /.. /sys/fs/cgroup/unified ro,nosuid - cgroup2 cgroup rw\n": true,
		"36 35 0:30 /.. /sys/fs/cgroup/cpu ro,nosuid - cgroup cgroup rw,cpu\n":  true,
		"36 35 0:30 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n":           false, // its own alone
		"36 35 0:30 /.. /mnt ro,nosuid - cgroup2 cgroup rw\n":                   false, // snag does not look there
		"36 35 0:30 /.. /sys/fs/cgroup ro,nosuid - tmpfs tmpfs rw\n":            false,
		"36 35\n": false,
		"":        false,
	} {
		if got := hostCgroups(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
