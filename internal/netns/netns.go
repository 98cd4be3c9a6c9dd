// Package netns finds the network namespaces of a host and runs functions
// inside them. A namespace is known by the inode of its nsfs file; it is found
// through the processes that live in it (/proc/*/ns/net) and through the names
// that ip(8) and docker bind-mount (/run/netns, /run/docker/netns). One that is
// held only by a descriptor or a mount elsewhere is not seen.
package netns

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"snag/internal/sorting"
)

// NameDirs are where namespaces are bind-mounted under a name.
var NameDirs = []string{"/run/netns", "/run/docker/netns"}

// Namespace is one network namespace.
type Namespace struct {
	ID uint64 // inode of its nsfs file
	// Name is "" for the own one, else its name in NameDirs, else
	// "of nginx[812]" after its oldest process.
	Name string
	Own  bool
	PID  int    // a process that lives in it; 0: none, it is only named
	Path string // a file that setns(2) takes: /proc/812/ns/net or /run/netns/x
}

// Found is what a search saw.
type Found struct {
	All []Namespace // by ID, the own one first
	// Hidden counts the processes of other namespaces that may not be told: it
	// needs CAP_SYS_PTRACE (readlink of /proc/PID/ns/net, kernel fs/proc/namespaces.c).
	Hidden int
}

// List finds the namespaces below the procfs root proc and the directories of
// names. own is the inode of the namespace that counts as the own one.
func List(proc string, nameDirs []string, own uint64) (Found, error) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return Found{}, fmt.Errorf("list the processes to find network namespaces: %w", err)
	}
	pids := make([]int, 0, len(entries))
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	var found Found
	var refused []int
	seen := map[uint64]*Namespace{own: {ID: own, Own: true, Path: filepath.Join(proc, "thread-self/ns/net")}}
	for _, pid := range pids {
		path := filepath.Join(proc, strconv.Itoa(pid), "ns/net")
		id, err := IDOf(path)
		if err != nil {
			if os.IsPermission(err) {
				refused = append(refused, pid)
			}
			continue // the rest are processes that just ended, and kernel threads on their way
		}
		if n := seen[id]; n == nil {
			seen[id] = &Namespace{ID: id, PID: pid, Path: path}
		} else if n.PID == 0 {
			n.PID = pid
		}
	}
	found.Hidden = hidden(proc, refused, seen)
	for _, dir := range nameDirs {
		addNamed(seen, dir)
	}
	for _, n := range seen {
		if n.Name == "" && !n.Own {
			n.Name = nameAfter(proc, n.PID)
		}
		found.All = append(found.All, *n)
	}
	sorting.By(found.All, func(a, b Namespace) int {
		if a.Own != b.Own {
			if a.Own {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.ID, b.ID)
	})
	return found, nil
}

// hidden counts the processes that are in none of the namespaces seen, as far as
// /proc/PID/net shows it, which any user may read. One such is process 1 of a
// container whose root has fewer capabilities than process 1. Of a process that
// ended meanwhile reading the link is not permitted either (proc_ns_readlink).
func hidden(proc string, refused []int, seen map[uint64]*Namespace) (n int) {
	if len(refused) == 0 {
		return 0
	}
	known := map[netFiles]bool{}
	for _, ns := range seen {
		if f, ok := netFilesOf(proc, strconv.Itoa(ns.PID)); ok {
			known[f] = true
		}
	}
	for _, pid := range refused {
		f, ok := netFilesOf(proc, strconv.Itoa(pid))
		if (!ok || !known[f]) && !InOwn(proc, pid) && exists(proc, pid) {
			n++
		}
	}
	return n
}

func exists(proc string, pid int) bool {
	_, err := os.Stat(filepath.Join(proc, strconv.Itoa(pid)))
	return err == nil
}

func addNamed(seen map[uint64]*Namespace, dir string) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return // most hosts have no docker, many no named namespaces
	}
	for _, e := range names {
		path := filepath.Join(dir, e.Name())
		var st unix.Stat_t
		// An unmounted leftover of `ip netns add` is a plain file: not an nsfs inode.
		if unix.Stat(path, &st) != nil || !onNsfs(path) {
			continue
		}
		n := seen[st.Ino]
		if n == nil {
			n = &Namespace{ID: st.Ino, Path: path}
			seen[st.Ino] = n
		}
		if n.Own {
			continue
		}
		if n.Name == "" {
			n.Name = e.Name()
			n.Path = path // outlives the processes
		}
	}
}

func onNsfs(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && int64(fs.Type) == unix.NSFS_MAGIC
}

// IDOf reads the inode of a namespace from the link /proc/PID/ns/net, whose
// target is "net:[4026531840]". It does not follow the link, so that it works on
// a copied tree as well.
func IDOf(link string) (uint64, error) {
	target, err := os.Readlink(link)
	if err != nil {
		return 0, err
	}
	id, ok := parseID(target)
	if !ok {
		return 0, fmt.Errorf("read the namespace of %s: %q is not net:[inode]", link, target)
	}
	return id, nil
}

// InOwn reports whether a process lives in the caller's namespace, without the
// right to read its link. The caller's is its thread's: /proc/self is the first
// thread, which may be in another namespace at the moment (Do).
func InOwn(proc string, pid int) bool {
	theirs, ok := netFilesOf(proc, strconv.Itoa(pid))
	own, known := netFilesOf(proc, "thread-self")
	return ok && known && theirs == own
}

// netFiles is a file below /proc/PID/net. Each namespace has inodes of its own for
// them (kernel fs/proc/proc_net.c), and anyone may stat them.
type netFiles struct{ dev, ino uint64 }

func netFilesOf(proc, who string) (netFiles, bool) {
	var st unix.Stat_t
	if unix.Stat(filepath.Join(proc, who, "net/netstat"), &st) != nil {
		return netFiles{}, false
	}
	return netFiles{st.Dev, st.Ino}, true
}

func parseID(target string) (uint64, bool) {
	rest, ok := strings.CutPrefix(target, "net:[")
	if !ok {
		return 0, false
	}
	rest, ok = strings.CutSuffix(rest, "]")
	if !ok {
		return 0, false
	}
	id, err := strconv.ParseUint(rest, 10, 64)
	return id, err == nil
}

func nameAfter(proc string, pid int) string {
	comm, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "comm"))
	if err != nil {
		return fmt.Sprintf("of process %d", pid)
	}
	return fmt.Sprintf("of %s[%d]", strings.TrimSpace(string(comm)), pid)
}
