package netns

import "golang.org/x/sys/unix"

// DoFresh runs f in a network namespace that is made for it and ends with it: where
// what the kernel gives a new one is to be seen.
func DoFresh(f func() error) error {
	return do(-1, func(fd int) error {
		if fd < 0 {
			return unix.Unshare(unix.CLONE_NEWNET)
		}
		return setns(fd)
	}, f)
}
