package drops

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"

	"snag/internal/kernel"
	"snag/probes/probe"
)

// owner is the process that holds a socket: of several, the one with the lowest
// id, which is the parent of the others as a rule.
type owner struct {
	pid  int
	comm string
}

// owners finds the process behind a socket's inode. The drop's own task is no
// help (it is whoever the softirq interrupted), so /proc/PID/fd of all processes
// is read, but only when there is an inode that is not known yet, and never for
// more than a small share of the time.
type owners struct {
	proc  string
	known map[uint64]owner
	next  time.Time // no scan before
	// unreadable counts the processes of the last scan that could not be looked
	// into (no CAP_SYS_PTRACE).
	unreadable int
}

// scanShare bounds the scans' share of a core.
const scanShare = 50

// find makes the inodes known where it can, and says whether it looked: false where the next
// scan is not due yet.
func (o *owners) find(inodes map[uint64]bool, now time.Time) bool {
	missing := false
	for i := range inodes {
		if _, ok := o.known[i]; !ok {
			missing = true
		}
	}
	if !missing {
		return true
	}
	if now.Before(o.next) {
		return false
	}
	before := probe.ThreadCPU()
	o.scan(inodes)
	took := time.Duration((probe.ThreadCPU() - before) * float64(time.Second))
	o.next = time.Now().Add(max(scanShare*took, time.Second/2))
	return true
}

func (o *owners) scan(inodes map[uint64]bool) {
	dirs, err := os.ReadDir(o.proc)
	if err != nil {
		return
	}
	o.unreadable = 0
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		dir := o.proc + "/" + d.Name() + "/fd/"
		f, err := os.Open(dir)
		if err != nil {
			if os.IsPermission(err) {
				o.unreadable++
			}
			continue
		}
		fds, err := f.Readdirnames(-1)
		f.Close()
		if err != nil {
			continue // it has ended, or is another user's
		}
		refused := false
		for _, fd := range fds {
			to, err := os.Readlink(dir + fd)
			if err != nil {
				refused = refused || os.IsPermission(err)
				continue
			}
			inode, ok := socketInode(to)
			if !ok || !inodes[inode] {
				continue
			}
			if old, ok := o.known[inode]; !ok || pid < old.pid {
				o.known[inode] = owner{pid, o.comm(d.Name())}
			}
		}
		if refused && !kernel.SeesDescriptors(o.proc) { // CAP_DAC_READ_SEARCH lists the links, CAP_SYS_PTRACE reads them
			o.unreadable++
		}
	}
}

func (o *owners) comm(pid string) string {
	b, err := os.ReadFile(o.proc + "/" + pid + "/comm")
	if err != nil {
		return ""
	}
	return string(bytes.TrimRight(b, "\n"))
}

// socketInode reads "socket:[123]", what a socket's descriptor links to.
func socketInode(link string) (uint64, bool) {
	s, ok := strings.CutPrefix(link, "socket:[")
	if !ok {
		return 0, false
	}
	s, ok = strings.CutSuffix(s, "]")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}
