package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// turnFile is the machine-wide lock of the lab.
func turnFile() string { return filepath.Join(os.TempDir(), "snag-lab.lock") }

// takeTurn takes that lock: alone for a run that is
// judged, since another incident beside it would be in its recording; shared
// among tests, which look at their own namespaces only. The janitor inherits
// the lock, so that it is free only when all that a killed run made is gone.
func takeTurn(ctx context.Context, path string, shared bool, log func(string, ...any)) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lab: open the lock %s: %w", path, err)
	}
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	// A blocking wait, not a poll: those who wait get their turn between two runs
	// of one long score.
	got := make(chan error, 1)
	go func() { got <- flock(f, how) }()
	told := time.After(500 * time.Millisecond)
	for {
		select {
		case err := <-got:
			if err != nil {
				f.Close()
				return nil, fmt.Errorf("lab: lock %s: %w", path, err)
			}
			return f, nil
		case <-told:
			log("another lab run is on this machine: waiting for it to end (lock %s)", path)
		case <-ctx.Done():
			// flock(2) can't be called off; what it still gets is given back.
			go func() {
				<-got
				f.Close()
			}()
			return nil, fmt.Errorf("lab: waiting for another lab run to end (lock %s): %w", path, ctx.Err())
		}
	}
}

// takeTurnBeside is takeTurn for a stage that may have others of its process beside
// it: their lock is held by one more.
func takeTurnBeside(ctx context.Context, o Options) (*os.File, error) {
	if len(o.Beside) == 0 {
		return takeTurn(ctx, turnFile(), o.Shared, o.Log)
	}
	lock := o.Beside[0].lock
	fd, err := unix.FcntlInt(lock.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("lab: hold the lock %s once more: %w", lock.Name(), err)
	}
	return os.NewFile(uintptr(fd), lock.Name()), nil
}

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
