package probes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"snag/internal/containers"
	"snag/internal/netns"
	"snag/probes/host"
	"snag/recording"
)

// Resolve finds the processes or the namespace that a target stands for, on the
// procfs at proc. The error says what was looked for and how to find it.
func Resolve(proc string, own uint64, t recording.Target) (recording.Target, error) {
	var err error
	switch {
	case t.PID != 0:
		t.PIDs, err = family(proc, t.PID)
	case t.Unit != "":
		t.PIDs, err = unit(proc, t.Unit)
	case t.Container != "" || t.Pod != "":
		return grouped(proc, t)
	case t.Port != 0:
		t.PIDs, err = port(proc, own, t.Port)
	case t.Netns != "":
		var ns netns.Namespace
		ns, err = Namespace(proc, own, t.Netns)
		t.NetnsID = ns.ID
	}
	return t, err
}

// family is a process and all its descendants: a server's master does not hold
// the sockets that its workers serve.
func family(proc string, pid int) ([]int, error) {
	if _, err := os.Stat(filepath.Join(proc, strconv.Itoa(pid))); err != nil {
		return nil, fmt.Errorf("look at process %d: there is none with that pid here (in a container, pids differ: use the host's, or --port)", pid)
	}
	fs, err := procfs.NewFS(proc)
	if err != nil {
		return nil, fmt.Errorf("look at process %d: %w", pid, err)
	}
	if err := alive(fs, pid); err != nil {
		return nil, err
	}
	procs, err := fs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("look at process %d: list the processes: %w", pid, err)
	}
	children := map[int][]int{}
	for _, p := range procs {
		if st, err := p.Stat(); err == nil { // one that ended meanwhile has no children
			children[st.PPID] = append(children[st.PPID], p.PID)
		}
	}
	out := []int{pid}
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i]]...)
	}
	sort.Ints(out)
	return out, nil
}

// alive refuses what has ended and only waits for its parent to take note: it
// has no sockets and no memory, and its children are another's.
func alive(fs procfs.FS, pid int) error {
	p, err := fs.Proc(pid)
	if err != nil {
		return fmt.Errorf("look at process %d: it has just ended", pid)
	}
	if st, err := p.Stat(); err == nil && (st.State == "Z" || st.State == "X") {
		return fmt.Errorf("look at process %d: it has ended (%s is a zombie that its parent, process %d, has not reaped): look at the parent, or at what serves now (--port)", pid, st.Comm, st.PPID)
	}
	return nil
}

// unit is the processes whose cgroup is that systemd unit's.
func unit(proc, name string) ([]int, error) {
	t := recording.Target{Unit: name}
	var out []int
	for pid, paths := range cgroupsOf(proc) {
		if slices.ContainsFunc(paths, t.Holds) {
			out = append(out, pid)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("look at unit %s: no process is in a cgroup of that name (systemctl list-units shows those that run)", recording.UnitName(name))
	}
	sort.Ints(out)
	return out, nil
}

// cgroupsOf are the paths of all processes' control groups.
func cgroupsOf(proc string) map[int][]string {
	files, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "cgroup")) // the pattern is right
	out := map[int][]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		out[pid] = pathsIn(string(b))
	}
	return out
}

// pathsIn are those of a /proc/PID/cgroup.
func pathsIn(cgroups string) []string {
	var out []string
	for line := range strings.SplitSeq(cgroups, "\n") {
		if f := strings.SplitN(line, ":", 3); len(f) == 3 {
			// A cgroup that was removed under its processes (kernel/cgroup/cgroup.c).
			out = append(out, strings.TrimSuffix(f[2], " (deleted)"))
		}
	}
	return out
}

// grouped is the target with the processes of its container or pod.
func grouped(proc string, t recording.Target) (recording.Target, error) {
	groups := cgroupsOf(proc)
	var all []string
	for _, paths := range groups {
		all = append(all, paths...)
	}
	there, failed := containers.List(context.Background(), filepath.Dir(proc))
	t, err := t.Named(host.ContainerFacts(there), all)
	if err != nil {
		return t, errors.Join(err, failed)
	}
	for pid, paths := range groups {
		if slices.ContainsFunc(paths, t.Holds) {
			t.PIDs = append(t.PIDs, pid)
		}
	}
	sort.Ints(t.PIDs)
	return t, nil
}

// port is the processes that hold a socket bound to that port and take
// connections or datagrams on it, in any namespace.
func port(proc string, own uint64, number int) ([]int, error) {
	if number < 1 || number > 65535 {
		return nil, fmt.Errorf("look at port %d: a port is a number from 1 to 65535", number)
	}
	found, err := netns.List(proc, netns.NameDirs, own)
	if err != nil {
		return nil, err
	}
	inodes := map[uint64]bool{}
	for _, ns := range found.All {
		if ns.PID == 0 {
			continue // a namespace without a process has no listener
		}
		fs, err := procfs.NewFS(filepath.Join(proc, strconv.Itoa(ns.PID)))
		if err != nil {
			continue
		}
		for _, inode := range boundTo(fs, uint64(number)) {
			inodes[inode] = true
		}
	}
	if len(inodes) == 0 {
		if found.Hidden > 0 {
			return nil, fmt.Errorf("look at port %d: nothing listens on it in the network namespaces that may be seen; those of %d processes can't: run as root, or give the binary CAP_SYS_PTRACE", number, found.Hidden)
		}
		return nil, fmt.Errorf("look at port %d: nothing listens on it in any network namespace (ss -lntup shows what does)", number)
	}
	out := holders(proc, inodes)
	if len(out) == 0 {
		return nil, fmt.Errorf("look at port %d: a socket listens on it, and its process can't be seen: run as root, or give the binary CAP_SYS_PTRACE", number)
	}
	return out, nil
}

// tcpListen is TCP_LISTEN in include/net/tcp_states.h.
const tcpListen = 10

func boundTo(fs procfs.FS, number uint64) []uint64 {
	var out []uint64
	//nolint:staticcheck // deprecated for its speed; a file of a process needs no socket in its namespace
	for _, read := range []func() (procfs.NetTCP, error){fs.NetTCP, fs.NetTCP6} {
		lines, err := read()
		if err != nil {
			continue // no IPv6 here
		}
		for _, l := range lines {
			if l.LocalPort == number && l.St == tcpListen {
				out = append(out, l.Inode)
			}
		}
	}
	//nolint:staticcheck // as above
	for _, read := range []func() (procfs.NetUDP, error){fs.NetUDP, fs.NetUDP6} {
		lines, err := read()
		if err != nil {
			continue
		}
		for _, l := range lines {
			if l.LocalPort == number {
				out = append(out, l.Inode)
			}
		}
	}
	return out
}

// holders is the processes that have one of those sockets open.
func holders(proc string, inodes map[uint64]bool) []int {
	found := map[int]bool{}
	links, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "fd", "*"))
	for _, link := range links {
		to, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(to, "socket:[") {
			continue
		}
		inode, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]"), 10, 64)
		if err == nil && inodes[inode] {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(link))))
			found[pid] = true
		}
	}
	var out []int
	for pid := range found {
		out = append(out, pid)
	}
	sort.Ints(out)
	return out
}

// Namespace finds the network namespace of a name or an inode. own is the inode of
// snag's own one.
func Namespace(proc string, own uint64, name string) (netns.Namespace, error) {
	found, err := netns.List(proc, netns.NameDirs, own)
	if err != nil {
		return netns.Namespace{}, err
	}
	var names []string
	// A namespace may have several names, of which the list has one; snag's own has none there.
	named := netns.Named(netns.NameDirs, name)
	for _, ns := range found.All {
		if ns.Name == name || ns.ID == named || strconv.FormatUint(ns.ID, 10) == name {
			return ns, nil
		}
		if ns.Name != "" {
			names = append(names, ns.Name)
		}
	}
	return netns.Namespace{}, fmt.Errorf("look at network namespace %q: there is none of that name or inode here; %s", name, others(names, found.Hidden))
}

// mostNamed namespaces are listed in an error: a host of containers has hundreds.
const mostNamed = 10

// others says which namespaces there are besides the own one.
func others(names []string, hidden int) string {
	text := "there is no other than snag's own"
	if n := len(names); n > 0 {
		text = "there are: " + strings.Join(names[:min(n, mostNamed)], ", ")
		if n > mostNamed {
			text += fmt.Sprintf(" and %d more (lsns -t net lists them)", n-mostNamed)
		}
	}
	if hidden > 0 {
		text += fmt.Sprintf("; those of %d processes can't be seen: run as root, or give the binary CAP_SYS_PTRACE", hidden)
	}
	return text
}
