package ffprobe

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudo-terminal: ffprobe writes to one line by line, and to a
// pipe only in blocks of 4 KiB, which is up to a second of a stream.
func terminal() (ours, its *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	ours = os.NewFile(uintptr(fd), "/dev/ptmx")
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		_ = ours.Close()
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		_ = ours.Close()
		return nil, nil, err
	}
	its, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		_ = ours.Close()
		return nil, nil, err
	}
	return ours, its, nil
}
