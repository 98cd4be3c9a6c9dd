package netns

import (
	"fmt"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// DoProcess runs f in the network namespace of a process, on a thread of its own.
// same is asked once the namespace is held open: whether that number is still the
// process that was meant. proc is where procfs is.
func DoProcess(proc string, pid int, same, f func() error) error {
	path := filepath.Join(proc, strconv.Itoa(pid), "ns/net")
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return fmt.Errorf("enter the network namespace of process %d: %w", pid, err)
	}
	h, err := Open(Namespace{ID: st.Ino, Path: path})
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }()
	if err := same(); err != nil {
		return err
	}
	return h.Do(f)
}

// Sysfs gives f a folder that shows /sys as the calling thread's network namespace
// has it: /sys/class/net holds the interfaces of the namespace that mounted it. The
// mount is attached nowhere, so that no other process sees it, and goes when f
// returns (fsmount(2), Linux 5.2).
func Sysfs(f func(sys string) error) error {
	context, err := unix.Fsopen("sysfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return fmt.Errorf("open the /sys of a network namespace: %w (it takes root on the host itself)", err)
	}
	defer unix.Close(context)
	if err := unix.FsconfigCreate(context); err != nil {
		return fmt.Errorf("make the /sys of a network namespace: %w (it takes root on the host itself)", err)
	}
	fd, err := unix.Fsmount(context, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return fmt.Errorf("mount the /sys of a network namespace: %w (it takes root on the host itself)", err)
	}
	defer unix.Close(fd)
	return f("/proc/self/fd/" + strconv.Itoa(fd))
}
