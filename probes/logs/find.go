package logs

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Bounds of a search: a readlink takes 3 µs, so that ten thousand descriptors take
// 30 ms, once for each process.
const (
	mostFDs   = 256  // descriptors of a process that are looked at, the lowest: logs are opened first
	mostAll   = 8000 // descriptors in one search
	mostFiles = 128  // files that are followed
	mostEach  = 4    // of one process
)

// open is a file that a process writes to.
type open struct {
	pid, fd int
	path    string
}

// finder looks for the log files of services: what a process that holds sockets, or
// is watched, has open to append to.
type finder struct {
	proc    string
	known   map[int]bool // processes that were looked at
	refused int
	first   error
	left    int // processes that are left for the next search
}

// search looks at the processes that are new since the last time, and again at those
// in again.
func (f *finder) search(again []int) []open {
	dir, err := os.Open(f.proc)
	if err != nil {
		f.note(err)
		return nil
	}
	names, _ := dir.Readdirnames(-1)
	dir.Close()
	here := map[int]bool{}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			here[pid] = true
			if !f.known[pid] {
				pids = append(pids, pid)
			}
		}
	}
	for pid := range f.known {
		if !here[pid] {
			delete(f.known, pid)
		}
	}
	sort.Ints(pids)
	watched := map[int]bool{}
	for _, pid := range again {
		watched[pid] = true
	}
	var out []open
	room := mostAll
	for i, pid := range append(append([]int(nil), again...), pids...) {
		if room <= 0 {
			f.left = len(again) + len(pids) - i
			return out
		}
		files, asked := f.filesOf(pid, watched[pid])
		room -= asked
		f.known[pid] = true
		out = append(out, files...)
	}
	f.left = 0
	return out
}

func (f *finder) note(err error) {
	if !errors.Is(err, fs.ErrPermission) {
		return // it ended
	}
	f.refused++
	if f.first == nil {
		f.first = err
	}
}

// filesOf are the log files of one process; none of a process without sockets that
// nobody watches.
func (f *finder) filesOf(pid int, watched bool) (out []open, asked int) {
	at := f.proc + "/" + strconv.Itoa(pid) + "/fd"
	dir, err := os.Open(at)
	if err != nil {
		f.note(err)
		return nil, 1
	}
	defer dir.Close()
	names, err := dir.Readdirnames(mostFDs)
	if err != nil && len(names) == 0 {
		return nil, 1
	}
	sockets := false
	for _, name := range names {
		to, err := os.Readlink(at + "/" + name)
		if err != nil {
			continue
		}
		if strings.HasPrefix(to, "socket:[") {
			sockets = true
			continue
		}
		path, _ := strings.CutSuffix(to, " (deleted)")
		if len(out) >= mostEach || !plausible(path) {
			continue
		}
		info, err := os.ReadFile(f.proc + "/" + strconv.Itoa(pid) + "/fdinfo/" + name)
		fd, numeric := strconv.Atoi(name)
		if err != nil || numeric != nil || !appends(info, path) {
			continue
		}
		out = append(out, open{pid, fd, path})
	}
	if !sockets && !watched {
		return nil, len(names)
	}
	return out, len(names)
}

// plausible leaves out what is no file of a disk.
func plausible(path string) bool {
	if !strings.HasPrefix(path, "/") {
		return false
	}
	for _, no := range []string{"/dev/", "/proc/", "/sys/", "/memfd:", "/anon_hugepage", "/SYSV", "/[aio]"} {
		if strings.HasPrefix(path, no) {
			return false
		}
	}
	return true
}

// appends tells by a descriptor's flags (fdinfo: octal, as given to open) whether it
// is a log's: opened to append, or to write only under a name that says so.
func appends(fdinfo []byte, path string) bool {
	flags, ok := parseFlags(fdinfo)
	if !ok || flags&unix.O_ACCMODE == unix.O_RDONLY {
		return false
	}
	if flags&unix.O_APPEND != 0 {
		return true
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	return flags&unix.O_ACCMODE == unix.O_WRONLY && (strings.Contains(name, "log") || strings.HasSuffix(name, ".out") || strings.HasSuffix(name, ".err"))
}

// parseFlags reads the line "flags:\t02102001" of /proc/PID/fdinfo/FD (proc(5)).
func parseFlags(fdinfo []byte) (flags int, ok bool) {
	for _, line := range bytes.Split(fdinfo, []byte("\n")) {
		text, found := bytes.CutPrefix(line, []byte("flags:"))
		if !found {
			continue
		}
		n, err := strconv.ParseUint(string(bytes.TrimSpace(text)), 8, 31)
		return int(n), err == nil
	}
	return 0, false
}
