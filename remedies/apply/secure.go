package apply

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// checkFolder refuses a folder whose files others could have written: what stands there
// is put into the kernel by root.
func checkFolder(dir string) error {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return fmt.Errorf("use %s: %w", dir, err)
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return fmt.Errorf("%s is not a folder", dir)
	case st.Uid != 0 && int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to user %d: what another user wrote is not used; chown it to root, if its files are yours", dir, st.Uid)
	case st.Mode&0o022 != 0:
		return fmt.Errorf("%s can be written by others (mode %04o): chmod go-w it, if its files are yours", dir, st.Mode&0o7777)
	}
	return nil
}

// makeFolder makes a folder for this user alone, if it is not there, and checks it.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make %s: %w", dir, cause(err))
	}
	return checkFolder(dir)
}
