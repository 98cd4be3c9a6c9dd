package procroot

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Mapping is a file as a line of /proc/PID/maps tells of it (proc_pid_maps(5)).
type Mapping struct {
	Start, End uint64
	Device     string // "fe:00"
	Inode      uint64
	Path       string // as the process sees it
	Deleted    bool
}

// Mapped opens the file of a mapping. First by its path, where the very same file lies
// there still. Else by the link in map_files, which leads to it in any mount namespace and
// deleted as well, and needs CAP_CHECKPOINT_RESTORE, or root: to follow it takes the lock
// on the process' memory three times (fs/proc/base.c, proc_map_files_lookup), for which a
// process that maps memory has to wait. Without that right by its path if the inode is
// the same, as overlayfs shows other devices there, and, for its program, by exe.
func Mapped(proc string, pid int, m Mapping) (*os.File, os.FileInfo, error) {
	dir := proc + "/" + strconv.Itoa(pid)
	if !m.Deleted {
		if f, info, err := inRoot(proc, pid, m, true); err == nil {
			return f, info, nil
		}
	}
	f, info, err := Regular(fmt.Sprintf("%s/map_files/%x-%x", dir, m.Start, m.End))
	if err == nil {
		return f, info, nil
	}
	if !m.Deleted {
		if f, info, err := inRoot(proc, pid, m, false); err == nil {
			return f, info, nil
		}
	}
	if f, info, again := Regular(dir + "/exe"); again == nil {
		if isFile(info, m, false) {
			return f, info, nil
		}
		f.Close()
	}
	return nil, nil, err
}

// inRoot opens a mapping's path below the root of its process if it is that file; by
// device too where exactly says so.
func inRoot(proc string, pid int, m Mapping, exactly bool) (*os.File, os.FileInfo, error) {
	at := proc + "/" + strconv.Itoa(pid) + "/root"
	root, err := unix.Open(at, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, &fs.PathError{Op: "open", Path: at, Err: err}
	}
	defer unix.Close(root)
	fd, err := unix.Openat2(root, m.Path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return nil, nil, &fs.PathError{Op: "open", Path: at + m.Path, Err: err}
	}
	handle := os.NewFile(uintptr(fd), m.Path)
	defer handle.Close()
	info, err := handle.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !isFile(info, m, exactly) {
		return nil, nil, fmt.Errorf("%s%s is another file than the one that process %d has mapped", at, m.Path, pid)
	}
	f, err := os.Open("/proc/self/fd/" + strconv.Itoa(fd))
	return f, info, err
}

// isFile reports whether this is the mapped file.
func isFile(info os.FileInfo, m Mapping, exactly bool) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	device := fmt.Sprintf("%02x:%02x", unix.Major(st.Dev), unix.Minor(st.Dev))
	return info.Mode().IsRegular() && st.Ino == m.Inode && (!exactly || device == m.Device)
}
