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

// takeTurn takes the machine-wide lock of the lab. The janitor inherits it, so
// that it is free only when all that a killed run made is gone.
func takeTurn(ctx context.Context, log func(string, ...any)) (*os.File, error) {
	path := filepath.Join(os.TempDir(), "snag-lab.lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lab: open the lock %s: %w", path, err)
	}
	for told := false; ; {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lab: lock %s: %w", path, err)
		}
		if !told {
			log("another lab run is on this machine: waiting for it to end (lock %s)", path)
			told = true
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("lab: waiting for another lab run to end: %w", ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
