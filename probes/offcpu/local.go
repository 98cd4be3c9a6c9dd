package offcpu

import (
	"bytes"
	"os"
	"strconv"
)

// locals finds threads by the ids that they have in their own PID namespace, which is
// what a lock's word tells of a process in a container.
type locals struct {
	proc string
	// known are the threads of each process by local id; nil where the ids are those
	// of /proc.
	known map[uint32]map[int]uint32
}

// host is the id, in the namespace of /proc, of a thread of a process.
func (l *locals) host(pid uint32, local int) (tid uint32, ok bool) {
	dir := l.proc + "/" + strconv.FormatUint(uint64(pid), 10)
	known, looked := l.known[pid]
	if !looked {
		known = threadsByLocal(dir)
		if l.known == nil {
			l.known = map[uint32]map[int]uint32{}
		}
		l.known[pid] = known
	}
	if known == nil {
		return uint32(local), exists(dir + "/task/" + strconv.Itoa(local))
	}
	tid, ok = known[local]
	return tid, ok
}

// forget lets go of what is known, once a second: threads come and go.
func (l *locals) forget() { clear(l.known) }

// threadsByLocal reads the ids of a process' threads; nil where the process is in the
// namespace of /proc.
func threadsByLocal(dir string) map[int]uint32 {
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return nil
	}
	if ids := parseNSpid(status); len(ids) < 2 {
		return nil
	}
	names, err := os.ReadDir(dir + "/task")
	if err != nil {
		return nil
	}
	out := map[int]uint32{}
	for _, e := range names[:min(len(names), mostSeeded)] {
		tid, err := strconv.ParseUint(e.Name(), 10, 32)
		if err != nil {
			continue
		}
		status, err := os.ReadFile(dir + "/task/" + e.Name() + "/status")
		if err != nil {
			continue
		}
		if ids := parseNSpid(status); len(ids) > 0 {
			out[ids[len(ids)-1]] = uint32(tid)
		}
	}
	return out
}

// parseNSpid reads the ids of a thread in its namespaces out of /proc/PID/status, the
// outermost first (proc_pid_status(5), since Linux 4.1).
func parseNSpid(status []byte) []int {
	_, rest, ok := bytes.Cut(status, []byte("\nNSpid:"))
	if !ok {
		return nil
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	var out []int
	for _, f := range bytes.Fields(line) {
		n, err := strconv.Atoi(string(f))
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}
