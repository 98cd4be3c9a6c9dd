package host

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"snag/internal/procfile"
)

// procStat is what of /proc/PID/stat is used (proc_pid_stat(5)).
type procStat struct {
	Comm    string
	State   byte
	PPID    int
	Kernel  bool   // a kernel thread: PF_KTHREAD of the flags
	CPU     uint64 // user + system, clock ticks
	Waited  uint64 // that of the children it waited for
	Major   uint64 // page faults that waited for a disk
	Threads int
	Nice    int
	Policy  int    // include/uapi/linux/sched.h
	Start   uint64 // clock ticks since boot
}

const pfKthread = 0x00200000 // include/linux/sched.h

var errProcStat = errors.New("not in the form of /proc/PID/stat")

// parseProcStat reads it by hand: it is read for hundreds of processes per second.
// The name may itself hold spaces and brackets, so it ends at the last bracket.
func parseProcStat(data []byte) (procStat, error) {
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 0 || end < open || end+2 >= len(data) {
		return procStat{}, errProcStat
	}
	s := procStat{Comm: string(data[open+1 : end])}
	rest := data[end+1:]
	for i := 3; i <= 41; i++ {
		var field []byte
		field, rest = procfile.CutField(rest)
		if i == 3 {
			if len(field) != 1 {
				return procStat{}, errProcStat
			}
			s.State = field[0]
			continue
		}
		if i > 22 && i < 41 {
			continue
		}
		v, ok := procfile.Number(field)
		if !ok && i == 41 {
			break // cut off; what matters was read
		}
		if !ok {
			return procStat{}, errProcStat
		}
		switch i {
		case 4:
			s.PPID = int(v)
		case 9:
			s.Kernel = uint64(v)&pfKthread != 0
		case 12:
			s.Major = uint64(v)
		case 14, 15:
			s.CPU += uint64(v)
		case 16, 17:
			s.Waited += uint64(v)
		case 19:
			s.Nice = int(v)
		case 41:
			s.Policy = int(v)
		case 20:
			s.Threads = int(v)
		case 22:
			s.Start = uint64(v)
		}
	}
	return s, nil
}

// parseNofile reads the soft and hard "Max open files" of /proc/PID/limits: −1
// is unlimited, 0 not found.
func parseNofile(data []byte) (soft, hard int) {
	_, rest, ok := bytes.Cut(data, []byte("Max open files"))
	if !ok {
		return 0, 0
	}
	line, _ := procfile.CutLine(rest)
	a, line := procfile.CutField(line)
	b, _ := procfile.CutField(line)
	return limit(a), limit(b)
}

func limit(b []byte) int {
	if string(b) == "unlimited" {
		return -1
	}
	n, err := strconv.Atoi(string(b))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// group is a process' place in the hierarchy that limits its CPU.
type group struct {
	Path    string
	Version int // 1 or 2; 0: not known
}

// parseCgroups reads /proc/PID/cgroup (cgroups(7)): the cpu controller's path in
// version 1 if it is mounted there, else the unified one; and the systemd unit,
// from whichever hierarchy names one; and the paths of other hierarchies where
// they differ, nil-safe to read, by controller.
func parseCgroups(data []byte) (g group, unit string, others map[string]string) {
	others = map[string]string{}
	defer func() {
		for controller, path := range others {
			if path == g.Path {
				delete(others, controller)
			}
		}
	}()
	for len(data) > 0 {
		var line []byte
		line, data = procfile.CutLine(data)
		parts := bytes.SplitN(line, []byte(":"), 3)
		if len(parts) != 3 || len(parts[2]) == 0 || parts[2][0] != '/' {
			continue
		}
		path := strings.TrimSuffix(string(parts[2]), " (deleted)")
		if unit == "" {
			unit = unitOf(path)
		}
		if string(parts[0]) == "0" && len(parts[1]) == 0 {
			others["unified"] = path
			if g.Version == 0 {
				g = group{path, 2}
			}
			continue
		}
		for _, controller := range bytes.Split(parts[1], []byte(",")) {
			switch string(controller) {
			case "cpu":
				g = group{path, 1}
			case "memory", "blkio":
				others[string(controller)] = path
			}
		}
	}
	return g, unit, others
}

// unitOf returns the innermost systemd unit of a cgroup path, or "".
func unitOf(path string) string {
	parts := strings.Split(path, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		for _, kind := range []string{".service", ".scope"} {
			if strings.HasSuffix(parts[i], kind) {
				return parts[i]
			}
		}
	}
	return ""
}
