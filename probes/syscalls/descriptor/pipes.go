package descriptor

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"snag/probes/sockets/owner"
	"snag/recording"
)

// pipeEnd is a process that has a pipe open.
type pipeEnd struct {
	pid    int
	writes bool
}

// pipes fills in who has the other end of pipes. The kernel has no table of it: the
// descriptors of all processes are read, as rarely as sockets are dumped.
func (r *Reader) pipes(now time.Time, rows []*recording.FD) {
	wanted := map[string]bool{}
	unknown := false
	for _, row := range rows {
		if row.Kind == pipe && row.Name != "" {
			wanted[row.Name] = true
			unknown = unknown || r.ends[row.Name] == nil
		}
	}
	if unknown && now.Sub(r.ended) > max(least, share*r.took) {
		r.ends = pipeEnds(r.proc, wanted)
		r.ended, r.took = now, time.Since(now)
	}
	for _, row := range rows {
		if row.Kind != pipe || row.PeerPID != 0 {
			continue
		}
		writes := pipeWrites(r.proc, row.PID, row.FD)
		for _, end := range r.ends[row.Name] {
			if end.writes != writes && (row.PeerPID == 0 || row.PeerPID == row.PID) {
				row.PeerPID, row.PeerComm = end.pid, owner.Comm(r.proc, end.pid)
			}
		}
	}
}

// pipeEnds finds the processes that have those pipes open, by what their links say:
// "pipe:[N]", or the path of one with a name.
func pipeEnds(proc string, wanted map[string]bool) map[string][]pipeEnd {
	out := map[string][]pipeEnd{}
	entries, err := os.ReadDir(proc)
	if err != nil {
		return out
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		dir, err := os.Open(filepath.Join(proc, e.Name(), "fd"))
		if err != nil {
			continue // it ended, or may not be read
		}
		names, _ := dir.Readdirnames(-1)
		var link [maxName + 1]byte
		for _, name := range names {
			n, err := unix.Readlinkat(int(dir.Fd()), name, link[:])
			if err != nil {
				continue
			}
			if to := string(link[:min(n, maxName)]); wanted[to] {
				fd, _ := strconv.Atoi(name)
				out[to] = append(out[to], pipeEnd{pid, pipeWrites(proc, pid, fd)})
			}
		}
		_ = dir.Close()
	}
	return out
}

// pipeWrites reports whether a descriptor is a pipe's end that is written to.
func pipeWrites(proc string, pid, fd int) bool {
	b, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "fdinfo", strconv.Itoa(fd)))
	flags, ok := parseFlags(b)
	return err == nil && ok && flags&unix.O_ACCMODE != unix.O_RDONLY
}

// parseFlags reads the octal open flags out of /proc/PID/fdinfo/FD (proc_pid_fdinfo(5)).
func parseFlags(b []byte) (flags uint64, ok bool) {
	for _, line := range bytes.Split(b, []byte("\n")) {
		if rest, found := bytes.CutPrefix(line, []byte("flags:")); found {
			n, err := strconv.ParseUint(string(bytes.TrimSpace(rest)), 8, 64)
			return n, err == nil
		}
	}
	return 0, false
}
