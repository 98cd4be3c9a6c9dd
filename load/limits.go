package load

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// spare is how many descriptors this program needs besides.
const spare = 50

// descriptors is how many files a run of a plan has open: a socket for each connection, and as many again where the
// server is of this process.
func (p Plan) descriptors() int {
	if p.Target.near {
		return 2*p.Conns + spare
	}
	return p.Conns + spare
}

// openFiles is what the descriptors are for, in words.
func (p Plan) openFiles() string {
	if p.Target.near {
		return fmt.Sprintf("%d connections to snag's own empty server, which has as many itself,", p.Conns)
	}
	return fmt.Sprintf("%d connections", p.Conns)
}

// raiseDescriptors raises this process' own limit of open files as far as the plan needs it and it may.
func (p Plan) raiseDescriptors() error {
	return raiseDescriptors(uint64(p.descriptors()), p.openFiles()) //nolint:gosec // Plan.Check bounds it
}

// DescriptorsFor raises this process' own limit of open files for so many sockets, as far as it may.
func DescriptorsFor(sockets int) error {
	return raiseDescriptors(uint64(sockets+spare), fmt.Sprintf("%d sockets", sockets)) //nolint:gosec // a number of connections
}

func raiseDescriptors(need uint64, what string) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil {
		return err
	}
	if now.Cur >= need {
		return nil
	}
	if now.Max < need {
		return fmt.Errorf("%s need %d open files, and this process may have %d: %s", what, need, now.Max, moreFiles(need))
	}
	now.Cur = need
	return unix.Setrlimit(unix.RLIMIT_NOFILE, &now)
}

// moreFiles is what lets a process have so many files open.
func moreFiles(need uint64) string {
	return fmt.Sprintf("ulimit -n %d before it (as root, where that is refused), or fewer --conns", need)
}

// noSocket is an error of a socket that could not be made, with the cure.
func (p Plan) noSocket(err error) error {
	switch {
	case errors.Is(err, unix.EMFILE):
		return fmt.Errorf("make a socket: this process has as many files open as it may: %s", moreFiles(uint64(2*p.descriptors()))) //nolint:gosec // as above
	case errors.Is(err, unix.ENFILE):
		return errors.New("make a socket: this host has as many files open as it may: sysctl fs.file-max, or fewer --conns")
	}
	return fmt.Errorf("make a socket: %w", err)
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
