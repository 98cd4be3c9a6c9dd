package load

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// spare is how many descriptors this program needs besides.
const spare = 50

// DescriptorsFor raises this process' own limit of open files as far as it may.
func DescriptorsFor(conns int) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil {
		return err
	}
	need := uint64(conns + spare)
	if now.Cur >= need {
		return nil
	}
	if now.Max < need {
		return fmt.Errorf("%d connections need %d open files, and this process may have %d: ulimit -n %d before it", conns, need, now.Max, need)
	}
	now.Cur = need
	return unix.Setrlimit(unix.RLIMIT_NOFILE, &now)
}

// Pin has this thread stay on a CPU.
func Pin(cpu int) error {
	if cpu < 0 {
		return nil
	}
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("stay on CPU %d: %w", cpu, err)
	}
	return nil
}
