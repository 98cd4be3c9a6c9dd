package host

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/internal/secrets"
)

// procReader reads the files of one process after another, into one buffer.
type procReader struct {
	root string // of procfs
	live bool   // a real procfs, not a copied tree
	// ptrace is whether descriptors of others may be read.
	ptrace bool
	own    uint64 // the namespace snag was started in
	buf    []byte
}

func newProcReader(root string, own uint64) *procReader {
	var fs unix.Statfs_t
	live := unix.Statfs(root, &fs) == nil && int64(fs.Type) == unix.PROC_SUPER_MAGIC
	return &procReader{root: root, live: live, ptrace: kernel.SeesDescriptors(root), own: own, buf: make([]byte, 8192)}
}

func (r *procReader) path(pid int, name string) string {
	return r.root + "/" + strconv.Itoa(pid) + "/" + name
}

// read returns up to the buffer's size of a file, good until the next read.
func (r *procReader) read(pid int, name string) ([]byte, error) {
	fd, err := unix.Open(r.path(pid, name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, r.buf)
	if err != nil {
		return nil, err
	}
	return r.buf[:n], nil
}

func (r *procReader) stat(pid int) (procStat, error) {
	data, err := r.read(pid, "stat")
	if err != nil {
		return procStat{}, err
	}
	return parseProcStat(data)
}

// gone reports whether an error means that the process ended.
func gone(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) }

// fds counts the open descriptors; nil when that is not allowed. From 6.2 on the
// directory's size is the count (kernel fs/proc/fd.c, proc_fd_getattr); before,
// it is 0 and the entries are counted.
func (r *procReader) fds(pid int) *int {
	if n := r.fdSize(pid); n > 0 {
		return &n
	}
	fd, err := unix.Open(r.path(pid, "fd"), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	count := 0
	for {
		n, err := unix.Getdents(fd, r.buf)
		if err != nil {
			return nil
		}
		if n == 0 {
			return &count
		}
		count += countEntries(r.buf[:n])
	}
}

// fdSize is the size of the fd directory; 0 where it does not tell the count.
func (r *procReader) fdSize(pid int) int {
	var st unix.Stat_t
	if !r.live || unix.Stat(r.path(pid, "fd"), &st) != nil {
		return 0
	}
	return int(st.Size)
}

// nofile returns the limits of open files: −1 unlimited, 0 not known. The call is
// ten times cheaper than the text, but not allowed for another user's process.
func (r *procReader) nofile(pid int) (soft, hard int) {
	var lim unix.Rlimit
	if r.live && unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &lim) == nil {
		return finite(lim.Cur), finite(lim.Max)
	}
	data, err := r.read(pid, "limits")
	if err != nil {
		return 0, 0
	}
	return parseNofile(data)
}

func finite(v uint64) int {
	if v > 1<<62 { // RLIM_INFINITY is all ones
		return -1
	}
	return int(v)
}

// countEntries counts the directory entries that getdents64 gave, but for . and ..
func countEntries(buf []byte) int {
	count := 0
	for len(buf) >= 19 { // struct linux_dirent64: the length is at 16
		size := int(buf[16]) | int(buf[17])<<8
		if size < 19 || size > len(buf) {
			break
		}
		if name := text(buf[19:size]); name != "." && name != ".." {
			count++
		}
		buf = buf[size:]
	}
	return count
}

// mostLinks bounds the search for a socket: they are found among the first.
const mostLinks = 256

// hasSocket reports whether a process holds a socket, and whether it may be known.
func (r *procReader) hasSocket(pid int) (has, known bool) {
	dir, err := os.Open(r.path(pid, "fd"))
	if err != nil {
		return false, !errors.Is(err, fs.ErrPermission) // else it has ended meanwhile
	}
	defer dir.Close()
	names, err := dir.Readdirnames(mostLinks)
	if err != nil && len(names) == 0 {
		return false, true
	}
	var target [16]byte
	refused := false
	for _, name := range names {
		n, err := unix.Readlink(filepath.Join(dir.Name(), name), target[:])
		if err == nil && bytes.HasPrefix(target[:n], []byte("socket:")) {
			return true, true
		}
		// Who has CAP_DAC_READ_SEARCH alone may list the links and not read them.
		refused = refused || !r.ptrace && errors.Is(err, fs.ErrPermission)
	}
	return false, !refused
}

const mostCmdline = 256

// describe fills in what changes at exec only, and exec changes the name mostly.
func (r *procReader) describe(p *process) {
	if p.described == p.comm {
		return
	}
	p.described = p.comm
	p.exe, _ = os.Readlink(r.path(p.pid, "exe"))
	p.cmdline = ""
	if data, err := r.read(p.pid, "cmdline"); err == nil {
		p.cmdline = shortened(secrets.Command(data))
	}
}

// shortened is the first part of a command line, and of the rest the addresses: where an encoder
// sends a stream stands at the end of a long line.
func shortened(line string) string {
	first := line[:min(len(line), mostCmdline)]
	addresses := ""
	for _, word := range strings.Fields(line[len(first):]) {
		if strings.Contains(word, "://") && len(addresses)+len(word) < mostCmdline {
			addresses += " … " + word
		}
	}
	return strings.ToValidUTF8(first+addresses, "?")
}
