package jvm

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"snag/internal/procroot"
)

// Bounds of one search, so that a host of a thousand containers costs no more than
// a hundredth of a core.
const (
	mostNamespaces = 100  // mount namespaces whose /tmp is looked into
	mostNames      = 4096 // names of a /tmp that are read
	mostStatus     = 200  // processes asked for their pid inside; the rest are asked in the next search
	mostBytes      = 4 << 20
)

// Found is one JVM's file of counters.
type found struct {
	pid  int
	path string // as its own mount namespace has it
	file *os.File
}

// finder looks for the JVMs of the machine: a file /tmp/hsperfdata_USER/PID in each
// mount namespace, named by the pid that the JVM has inside. HotSpot takes /tmp
// whatever TMPDIR is (os_linux.cpp, os::get_temp_directory).
type finder struct {
	proc string
	turn int
	// insides are the pids that processes have inside their own pid namespace, of those
	// that were asked: mount namespaces that share a /tmp have each other's files there, and
	// a name that is nobody's is looked for among all.
	insides map[int]int
	// Of the last search: processes that run java and have no file, and why the
	// first of those that may not be looked into was refused.
	bare    map[int]string
	hidden  int
	refused error
	left    int // mount namespaces that were left out
}

// search returns the JVMs that are not known yet.
func (f *finder) search(known map[int]bool) []found {
	spaces, order, java := f.processes()
	f.left = max(0, len(order)-mostNamespaces)
	var out []found
	f.forget(spaces)
	asked := 0
	for i := range min(len(order), mostNamespaces) {
		space := order[(f.turn+i)%len(order)]
		pids := spaces[space]
		for name, path := range f.files(pids[0]) {
			pid, ok := f.outside(name, pids, &asked)
			if !ok {
				continue
			}
			delete(java, pid)
			if known[pid] || !f.maps(pid, path) {
				continue
			}
			file, err := f.open(pid, path)
			if err != nil {
				f.note(err)
				continue
			}
			out = append(out, found{pid, path, file})
		}
	}
	f.turn += mostNamespaces
	f.bare = java
	return out
}

func (f *finder) note(err error) {
	if errors.Is(err, fs.ErrPermission) {
		f.hidden++
		if f.refused == nil {
			f.refused = err
		}
	}
}

// processes sorts all processes by their mount namespace, in the order in which
// they were first seen, and picks those whose program is called java.
func (f *finder) processes() (spaces map[string][]int, order []string, java map[int]string) {
	f.hidden, f.refused = 0, nil
	spaces, java = map[string][]int{}, map[int]string{}
	dir, err := os.Open(f.proc)
	if err != nil {
		f.note(err)
		return spaces, nil, java
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		space, err := os.Readlink(f.proc + "/" + name + "/ns/mnt")
		if err != nil {
			if comm(f.proc, pid) == "java" { // of what else is refused, nobody says that it is a JVM
				f.note(err)
			}
			continue
		}
		if spaces[space] == nil {
			order = append(order, space)
		}
		spaces[space] = append(spaces[space], pid)
		if exe, err := os.Readlink(f.proc + "/" + name + "/exe"); err == nil && filepath.Base(exe) == "java" {
			java[pid] = exe
		}
	}
	return spaces, order, java
}

// files lists the counters' files of the mount namespace that a process is in, by
// the pid that they are named after.
func (f *finder) files(pid int) map[int]string {
	out := map[int]string{}
	for _, user := range f.names(pid, "/tmp", true) {
		if !strings.HasPrefix(user, "hsperfdata_") {
			continue
		}
		for _, name := range f.names(pid, "/tmp/"+user, false) {
			if inside, err := strconv.Atoi(name); err == nil && inside > 0 {
				out[inside] = "/tmp/" + user + "/" + name
			}
		}
	}
	return out
}

func (f *finder) names(pid int, path string, links bool) []string {
	dir, err := procroot.Open(f.proc, pid, path, unix.O_DIRECTORY, links)
	if err != nil {
		f.note(err)
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(mostNames) // fewer, and no error, where there are fewer
	return names
}

// outside finds the process that has that pid inside its own pid namespace: itself
// on a plain host, one of the mount namespace's processes in a container.
func (f *finder) outside(inside int, pids []int, asked *int) (int, bool) {
	if slices.Contains(pids, inside) && procroot.InsidePID(f.proc, inside) == inside {
		return inside, true
	}
	for _, pid := range pids {
		its, known := f.insides[pid]
		if !known {
			if *asked++; *asked > mostStatus {
				return 0, false
			}
			its = procroot.InsidePID(f.proc, pid)
			f.insides[pid] = its
		}
		if its == inside {
			return pid, true
		}
	}
	return 0, false
}

// forget drops what is known of processes that are gone.
func (f *finder) forget(spaces map[string][]int) {
	kept := map[int]int{}
	for _, pids := range spaces {
		for _, pid := range pids {
			if inside, known := f.insides[pid]; known {
				kept[pid] = inside
			}
		}
	}
	f.insides = kept
}

// maps reports whether the process has that file mapped: one that a JVM left behind
// when it was killed may have the pid of another process now.
func (f *finder) maps(pid int, path string) bool {
	file, err := os.Open(f.proc + "/" + strconv.Itoa(pid) + "/maps")
	if err != nil {
		f.note(err)
		return false
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		// Across a bind mount the path has another beginning than the one inside.
		if strings.HasSuffix(lines.Text(), strings.TrimPrefix(path, "/tmp")) {
			return true
		}
	}
	return false
}

func (f *finder) open(pid int, path string) (*os.File, error) {
	file, err := procroot.Open(f.proc, pid, path, 0, false)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > mostBytes) {
		err = fmt.Errorf("%s is not a file of counters: %s of %d bytes", path, info.Mode(), info.Size())
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
