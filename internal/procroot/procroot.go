// Package procroot opens files as a process sees them, from outside: below its
// root directory, whatever its mount namespace holds. What lies in a container
// is written by others: no link leads out of it, and no pipe stops the reader.
package procroot

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Open opens a path below the root directory that a process sees. flags are added
// to O_RDONLY, O_CLOEXEC and O_NONBLOCK. Links are followed inside that root where
// links says so, else refused; magic links are never followed.
func Open(proc string, pid int, path string, flags uint64, links bool) (*os.File, error) {
	at := proc + "/" + strconv.Itoa(pid) + "/root"
	root, err := unix.Open(at, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: at, Err: err}
	}
	defer unix.Close(root)
	how := unix.OpenHow{Flags: flags | unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	if !links {
		how.Resolve |= unix.RESOLVE_NO_SYMLINKS
	}
	fd, err := unix.Openat2(root, path, &how)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: at + path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// Regular opens what open gives as O_PATH, which does nothing to it, and opens it
// for reading only if it is a regular file: to open a device may set it off.
func Regular(path string) (*os.File, os.FileInfo, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	handle := os.NewFile(uintptr(fd), path)
	defer handle.Close()
	info, err := handle.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file but %s", path, info.Mode())
	}
	f, err := os.Open("/proc/self/fd/" + strconv.Itoa(fd))
	return f, info, err
}

// InsidePID is the pid that a process has in its own pid namespace: the last of
// NSpid in /proc/PID/status (4.1 and later). 0: it has ended, or can't be read.
func InsidePID(proc string, pid int) int {
	b, err := os.ReadFile(proc + "/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	return nsPID(string(b))
}

func nsPID(status string) int {
	_, rest, ok := strings.Cut(status, "\nNSpid:")
	if !ok {
		return 0
	}
	line, _, _ := strings.Cut(rest, "\n")
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(fields[len(fields)-1])
	return n
}

// UserHZ is the unit of times in /proc/PID/stat: 100 on every architecture that
// snag runs on (include/asm-generic/param.h).
const UserHZ = 100

// StartTime is when a process began, clock ticks after boot: field 22 of
// /proc/PID/stat (proc_pid_stat(5)). With the pid it names a process for good.
func StartTime(proc string, pid int) (uint64, error) {
	b, err := statField(proc, pid, 22)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(string(b), 10, 64)
}

// statField is a field of /proc/PID/stat, as proc_pid_stat(5) counts them, from the third on.
func statField(proc string, pid, number int) ([]byte, error) {
	path := proc + "/" + strconv.Itoa(pid) + "/stat"
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	end := bytes.LastIndexByte(b, ')') // the name may hold anything
	fields := bytes.Fields(b[end+1:])  // from field 3 on
	if end < 0 || len(fields) < 20 {
		return nil, fmt.Errorf("%s: %d fields after the name", path, len(fields))
	}
	return fields[number-3], nil
}
