package sockets

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// Where a call names its file (enum file_in of tables.h).
const (
	fileInFD = iota + 1
	fileInFirst
	fileInSecond
	fileNone
)

// fileCall is a call that fails where a file can't be written, made or opened.
type fileCall struct {
	name string
	on   uint8
}

// fileCalls are those that every machine has; oldFileCalls its own.
var fileCalls = map[uint32]fileCall{
	unix.SYS_WRITE: {"write", fileInFD}, unix.SYS_PWRITE64: {"write", fileInFD}, unix.SYS_WRITEV: {"write", fileInFD}, unix.SYS_PWRITEV: {"write", fileInFD}, unix.SYS_PWRITEV2: {"write", fileInFD},
	unix.SYS_FSYNC: {"fsync", fileInFD}, unix.SYS_FDATASYNC: {"fdatasync", fileInFD}, unix.SYS_FTRUNCATE: {"ftruncate", fileInFD}, unix.SYS_FALLOCATE: {"fallocate", fileInFD},
	unix.SYS_COPY_FILE_RANGE: {"copy_file_range", fileNone}, unix.SYS_SENDFILE: {"sendfile", fileInFD},
	unix.SYS_READ: {"read", fileInFD}, unix.SYS_PREAD64: {"read", fileInFD},
	unix.SYS_OPENAT: {"open", fileInSecond}, unix.SYS_OPENAT2: {"open", fileInSecond}, unix.SYS_MKDIRAT: {"mkdir", fileInSecond}, unix.SYS_MKNODAT: {"mknod", fileInSecond},
	unix.SYS_UNLINKAT: {"unlink", fileInSecond}, unix.SYS_RENAMEAT2: {"rename", fileInSecond}, unix.SYS_LINKAT: {"link", fileInSecond}, unix.SYS_TRUNCATE: {"truncate", fileInFirst},
	unix.SYS_FCHMODAT: {"chmod", fileInSecond}, unix.SYS_FCHOWNAT: {"chown", fileInSecond}, unix.SYS_EXECVE: {"execve", fileInFirst},
	unix.SYS_MMAP: {"mmap", fileNone}, unix.SYS_BRK: {"brk", fileNone}, unix.SYS_CLONE: {"clone", fileNone}, unix.SYS_CLONE3: {"clone", fileNone},
	unix.SYS_BIND: {"bind", fileNone}, unix.SYS_SHMGET: {"shmget", fileNone},
}

// fileCallOf is a call on files by its number.
func fileCallOf(nr uint32) fileCall {
	if c, ok := fileCalls[nr]; ok {
		return c
	}
	return oldFileCalls[nr]
}

// watchFiles has the program at the end of system calls know the calls on files.
func (k *inKernel) watchFiles() error {
	m := k.maps.Maps["file_calls"]
	for nr := range uint32(mostCalls) {
		if c := fileCallOf(nr); c.on != 0 {
			if err := m.Put(nr, c.on); err != nil {
				return fmt.Errorf("note the calls on files: %w", err)
			}
		}
	}
	return nil
}

// mostCalls bounds the numbers of system calls.
const mostCalls = 512

// pathOf is the file that a call failed on, and where its file system is mounted, as far as
// they can be told. It is read within a second of the call: a descriptor that is closed by
// then leaves the name that the kernel had for the file.
func (r *running) pathOf(k kernelErrorKey) (path, mount string) {
	var p kernelErrorPath
	if err := r.kernel.maps.Maps["error_paths"].Lookup(k, &p); err != nil {
		return "", ""
	}
	proc := filepath.Join(r.env.Proc, fmt.Sprint(k.Pid))
	raw := make([]byte, len(p.Path))
	for i, c := range p.Path {
		raw[i] = byte(c)
	}
	name, _, _ := strings.Cut(string(raw), "\x00")
	switch {
	case p.Fd >= 0:
		if at, err := os.Readlink(filepath.Join(proc, "fd", fmt.Sprint(p.Fd))); err == nil && strings.Contains(at, name) {
			name = at
		}
	case name != "" && !strings.HasPrefix(name, "/"):
		if at, err := os.Readlink(filepath.Join(proc, "cwd")); err == nil {
			name = filepath.Join(at, name)
		}
	}
	return name, mountOf(mounts(cmp.Or(existing(filepath.Join(proc, "mountinfo")), filepath.Join(r.env.Proc, "self/mountinfo"))), name, p.Dev)
}

func existing(path string) string {
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// mounted is a line of /proc/PID/mountinfo (proc(5)).
type mounted struct {
	dev, at, kind string
	readOnly      bool
}

func mounts(path string) (out []mounted) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		w := strings.Fields(lines.Text())
		dash := slices.Index(w, "-")
		if len(w) < 6 || dash < 6 || dash+1 >= len(w) {
			continue
		}
		out = append(out, mounted{dev: w[2], at: w[4], kind: w[dash+1], readOnly: slices.Contains(strings.Split(w[5], ","), "ro")})
	}
	return out
}

// mountOf is where the file system of a path, or of a device, is mounted.
func mountOf(all []mounted, path string, dev uint32) (at string) {
	const minorBits = 20 // of the kernel's own dev_t (linux/kdev_t.h)
	device := fmt.Sprintf("%d:%d", dev>>minorBits, dev&(1<<minorBits-1))
	for _, m := range all {
		inside := strings.HasPrefix(path, strings.TrimSuffix(m.at, "/")+"/") || path == m.at
		if (dev != 0 && m.dev == device && (inside || at == "")) || (dev == 0 && inside && len(m.at) >= len(at)) {
			at = m.at
		}
	}
	return at
}

// onDisks are file systems that can be full, and that answer at once.
var onDisks = []string{"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "zfs", "vfat"}

// diskEvery ticks the file systems are asked: a host may have thousands of mounts.
const diskEvery = 5

// A file system of which less than this is free is full for whoever writes much.
const leastFree = 0.005

// fullDisk reports whether a file system that may be written to has no room, or no files, left.
func (r *running) fullDisk() bool {
	seen := map[string]bool{}
	for _, m := range mounts(filepath.Join(r.env.Proc, "self/mountinfo")) {
		var st unix.Statfs_t
		again := seen[m.dev]
		seen[m.dev] = true
		if again || m.readOnly || !slices.Contains(onDisks, m.kind) || unix.Statfs(m.at, &st) != nil || st.Blocks == 0 {
			continue
		}
		if float64(st.Bavail) < leastFree*float64(st.Blocks) || st.Files > 0 && st.Ffree == 0 {
			return true
		}
	}
	return false
}

// fileRow adds to a row what is known of the file that its call was on.
func (r *running) fileRow(row *recording.CallError, k kernelErrorKey) {
	if k.Call != callOther {
		return
	}
	c := fileCallOf(k.Nr)
	if c.on == 0 || !onFile(k.Err) {
		return
	}
	row.Call = c.name
	row.Path, row.Mount = r.pathOf(k)
	var st unix.Statfs_t
	if row.Mount != "" && (row.Errno == "ENOSPC" || row.Errno == "EDQUOT") && unix.Statfs(row.Mount, &st) == nil && st.Bsize > 0 {
		bytes, files := st.Bavail*uint64(st.Bsize), st.Ffree
		row.FreeBytes = &bytes
		if st.Files > 0 {
			row.FreeFiles = &files
		}
	}
}

// onFile reports whether an error is one of fails_on_file (errors.h).
func onFile(err uint16) bool {
	switch unix.Errno(err) {
	case unix.ENOSPC, unix.EDQUOT, unix.EROFS, unix.EFBIG, unix.EIO, unix.EACCES, unix.EPERM, unix.ENOMEM, unix.EAGAIN:
		return true
	}
	return false
}
