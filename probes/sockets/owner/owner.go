// Package owner finds the processes that hold a socket, by reading the links of
// /proc/PID/fd: "socket:[INODE]" (kernel net/socket.c, sockfs_dname). The kernel
// has no table the other way round. Readers keep a Table and pay only when a
// socket appears that it does not know.
package owner

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/recording"
)

// least is the least time between two scans of all processes.
const least = 2 * time.Second

// Scans take no more than 1/share of the time, and 1/rarely in a recording that has no end.
const (
	share  = 50
	rarely = 200
)

// Table maps socket inodes to the descriptors that hold them.
type Table struct {
	proc    string
	share   time.Duration
	ptrace  bool // descriptors of others may be read
	held    map[uint64][]recording.FDRef
	nobody  map[uint64]bool // looked for and not found: not worth another scan
	scanned time.Time
	took    time.Duration
	hidden  int
}

// New returns an empty table over the procfs root proc.
func New(proc string) *Table {
	return &Table{proc: proc, share: share, ptrace: kernel.SeesDescriptors(proc), held: map[uint64][]recording.FDRef{}, nobody: map[uint64]bool{}}
}

// Rarely has the table scan less often: on a host where connections come and go, there is
// always one that it does not know.
func (t *Table) Rarely() *Table {
	t.share = rarely
	return t
}

// Of returns the descriptors that hold a socket; none when nobody does or the
// owner may not be read.
func (t *Table) Of(inode uint64) []recording.FDRef {
	if inode == 0 {
		return nil
	}
	return t.held[inode]
}

// Hidden counts the processes of the last scan whose descriptors may not be
// read: it needs CAP_SYS_PTRACE.
func (t *Table) Hidden() int { return t.hidden }

// Known reports whether a scan would teach nothing about this inode.
func (t *Table) Known(inode uint64) bool {
	return inode == 0 || t.held[inode] != nil || t.nobody[inode]
}

// Refresh scans all processes if one of the inodes is not known and the last
// scan is long enough ago. force scans in any case.
func (t *Table) Refresh(now time.Time, force bool, inodes func(yield func(uint64) bool)) error {
	if !force && now.Sub(t.scanned) < max(least, t.share*t.took) {
		return nil
	}
	unknown := force
	if !unknown {
		for i := range inodes {
			if !t.Known(i) {
				unknown = true
				break
			}
		}
	}
	if !unknown {
		return nil
	}
	if err := t.scan(); err != nil {
		return err
	}
	t.scanned, t.took = now, time.Since(now)
	t.nobody = map[uint64]bool{}
	for i := range inodes {
		if t.held[i] == nil {
			t.nobody[i] = true
		}
	}
	return nil
}

func (t *Table) scan() error {
	pids, err := pidsOf(t.proc)
	if err != nil {
		return err
	}
	held := make(map[uint64][]recording.FDRef, len(t.held))
	t.hidden = 0
	for _, pid := range pids {
		if t.process(pid, held) {
			t.hidden++
		}
	}
	t.held = held
	return nil
}

// Look reads single processes, which is cheap: the watched ones.
func (t *Table) Look(pids []int) {
	fresh := map[uint64][]recording.FDRef{}
	for _, pid := range pids {
		t.process(pid, fresh)
	}
	for inode, refs := range fresh {
		for _, old := range t.held[inode] {
			if !has(refs, old.PID) {
				refs = append(refs, old)
			}
		}
		sort.Slice(refs, func(i, j int) bool { return refs[i].PID < refs[j].PID })
		t.held[inode] = refs
		delete(t.nobody, inode)
	}
}

func has(refs []recording.FDRef, pid int) bool {
	for _, r := range refs {
		if r.PID == pid {
			return true
		}
	}
	return false
}

func pidsOf(proc string) ([]int, error) {
	d, err := os.Open(proc)
	if err != nil {
		return nil, fmt.Errorf("list processes to find the owners of sockets: %w", err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes to find the owners of sockets: %w", err)
	}
	pids := make([]int, 0, len(names))
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			pids = append(pids, pid)
		}
	}
	sort.Ints(pids)
	return pids, nil
}

// process adds the sockets of one process; hidden says that they may not be read.
func (t *Table) process(pid int, held map[uint64][]recording.FDRef) (hidden bool) {
	dir := filepath.Join(t.proc, strconv.Itoa(pid))
	d, err := os.Open(filepath.Join(dir, "fd"))
	if err != nil {
		return os.IsPermission(err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return os.IsPermission(err)
	}
	comm := ""
	var link [64]byte
	for _, name := range names {
		n, err := unix.Readlinkat(int(d.Fd()), name, link[:])
		if err != nil {
			// Who has CAP_DAC_READ_SEARCH alone may list the links and not read them.
			hidden = hidden || !t.ptrace && os.IsPermission(err)
			continue // closed meanwhile, or not to be read
		}
		inode, ok := Inode(string(link[:n]))
		if !ok {
			continue
		}
		if comm == "" {
			comm = Comm(t.proc, pid)
		}
		fd, _ := strconv.Atoi(name)
		if !has(held[inode], pid) { // the first of several descriptors is enough
			held[inode] = append(held[inode], recording.FDRef{PID: pid, Comm: comm, FD: fd})
		}
	}
	return hidden
}

// Inode reads the target of a descriptor's link; false when it is no socket.
func Inode(link string) (uint64, bool) {
	rest, ok := strings.CutPrefix(link, "socket:[")
	if !ok {
		return 0, false
	}
	rest, ok = strings.CutSuffix(rest, "]")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(rest, 10, 64)
	return n, err == nil && n > 0
}

// Comm reads a process' name; "" once it has gone.
func Comm(proc string, pid int) string {
	b, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "comm"))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(b), "\n")
}
