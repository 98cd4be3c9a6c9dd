package persist

import (
	"errors"

	"golang.org/x/sys/unix"
)

const errNotFolder = unix.ENOTDIR

// bare is an error without the call and the path, which the caller has said.
func bare(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// cure says what would make a file be written.
func cure(err error) string {
	switch {
	case errors.Is(err, unix.EROFS):
		return ": /etc is read-only here (an image-based or a live system): export the plan and put it into the image"
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return ": free some space, then persist again"
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return ": run it as root"
	}
	return ""
}
