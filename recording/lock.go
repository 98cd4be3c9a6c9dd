package recording

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"snag/internal/private"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// lockFile is held with flock while a recording is written, and holds the
// writer's pid. flock ends with the process, so a file left by a killed writer
// locks nobody out.
const lockFile = "writer.lock"

// InUseError reports that another process is writing to the recording.
type InUseError struct {
	Dir string
	PID int // 0: not known yet
}

func (e *InUseError) Error() string {
	who := "another snag"
	if e.PID > 0 {
		who = fmt.Sprintf("snag with pid %d", e.PID)
	}
	return fmt.Sprintf("record to %s: %s is recording there: wait until it ends, or give another directory", e.Dir, who)
}

func lockDir(p place) (*os.File, error) {
	dir, path := p.name, filepath.Join(p.at, lockFile)
	for range 100 {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, private.FileMode())
		if err != nil {
			return nil, fmt.Errorf("lock the recording %s: %w", dir, p.named(err))
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			pid := lockedBy(f)
			f.Close()
			if errors.Is(err, unix.EWOULDBLOCK) {
				return nil, &InUseError{dir, pid}
			}
			return nil, fmt.Errorf("lock the recording %s: %w: give a directory on a disk that can lock files", dir, err)
		}
		// The one who held it may have removed the file between our open and our
		// lock; then this lock is on a file that nobody else can see.
		mine, err1 := f.Stat()
		there, err2 := os.Lstat(path)
		if err1 != nil || err2 != nil || !os.SameFile(mine, there) {
			f.Close()
			continue
		}
		if err = f.Truncate(0); err == nil {
			_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock the recording %s: %w", dir, err)
		}
		return f, nil
	}
	return nil, &InUseError{Dir: dir}
}

func lockedBy(f *os.File) int {
	b, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}

func unlockDir(f *os.File) {
	os.Remove(f.Name())
	f.Close()
}
