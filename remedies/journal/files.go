package journal

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// OpenFile opens a file of a store: never by a symbolic link, never anything but a
// regular file, and no program that is started gets it.
func OpenFile(path string, flags int) (*os.File, error) {
	fd, err := openFile(path, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, fmt.Errorf("it is a symbolic link, and snag made none: remove it (%w)", err)
	case err != nil:
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		_ = unix.Close(fd)
		return nil, errors.New("it is not a regular file")
	}
	return os.NewFile(uintptr(fd), path), nil
}

func openFile(path string, flags int) (fd int, err error) {
	for {
		fd, err = unix.Open(path, flags, 0o600)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// SyncDir has the names in a folder on disk.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return errors.Unwrap(err)
	}
	defer func() { _ = d.Close() }()
	return d.Sync()
}
