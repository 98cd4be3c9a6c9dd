// Package descriptor reports what the descriptors of processes are: of sockets both
// ends, their state and queues, and the process at the other end where that is on
// this host. It reads /proc/PID/fd, and asks INET_DIAG and UNIX_DIAG in the
// process' network namespace.
package descriptor

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"snag/internal/netns"
	"snag/recording"
)

// Kinds of recording.FD.
const (
	socket = "socket"
	file   = "file"
	pipe   = "pipe"
	other  = "other"
	tty    = "tty"
	device = "device"
)

// anonymous are the names of anonymous inodes (anon_inode_getfile in the kernel).
var anonymous = map[string]string{
	"[eventpoll]": "epoll", "[eventfd]": "eventfd", "[timerfd]": "timerfd", "[signalfd]": "signalfd", "inotify": "inotify",
}

// KindOf reads what the target of a link /proc/PID/fd/N says (proc_pid_fd(5)): the
// kind of recording.FD, and of sockets and pipes the inode.
func KindOf(link string) (kind string, inode uint64) {
	for _, k := range []string{socket, pipe} {
		if rest, ok := strings.CutPrefix(link, k+":["); ok {
			n, err := strconv.ParseUint(strings.TrimSuffix(rest, "]"), 10, 64)
			if err != nil {
				return other, 0
			}
			return k, n
		}
	}
	if name, ok := strings.CutPrefix(link, "anon_inode:"); ok {
		if k := anonymous[name]; k != "" {
			return k, 0
		}
		return other, 0
	}
	switch {
	case strings.HasPrefix(link, "/dev/pts/"), link == "/dev/tty", link == "/dev/console", strings.HasPrefix(link, "/dev/ttyS"):
		return tty, 0
	case strings.HasPrefix(link, "/dev/") && !strings.HasPrefix(link, "/dev/shm/"):
		return device, 0
	case strings.HasPrefix(link, "/"):
		return file, 0
	}
	return other, 0
}

// maxName bounds what is kept of a name, bytes.
const maxName = 256

// Look reads what a descriptor is now. Of a socket it is only that and its inode:
// Complete tells the rest. An error is that it is closed, or may not be read.
func (r *Reader) Look(pid, fd int) (recording.FD, error) {
	row := recording.FD{PID: pid, FD: fd}
	link, err := os.Readlink(filepath.Join(r.proc, strconv.Itoa(pid), "fd", strconv.Itoa(fd)))
	if err != nil {
		return row, fmt.Errorf("look at descriptor %d of process %d: %w", fd, pid, err)
	}
	row.Kind, row.Inode = KindOf(link)
	row.Name = link[:min(len(link), maxName)]
	var st unix.Stat_t
	if row.Kind == file && unix.Stat(filepath.Join(r.proc, strconv.Itoa(pid), "fd", strconv.Itoa(fd)), &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO {
		row.Kind, row.Inode = pipe, st.Ino // one with a name: containerd's logs go by these
	}
	return row, nil
}

// netnsOf is the network namespace that a process lives in; 0 where it can't be told.
func (r *Reader) netnsOf(pid int) uint64 {
	id, err := netns.IDOf(filepath.Join(r.proc, strconv.Itoa(pid), "ns/net"))
	if err != nil {
		return 0
	}
	return id
}
