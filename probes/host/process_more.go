package host

import (
	"bytes"

	"snag/internal/procfile"
	"snag/recording"
)

// more reads what is only wanted of processes that deserve a closer look.
func (r *procReader) more(pid int, row *recording.Process) {
	if data, err := r.read(pid, "status"); err == nil {
		s := parseStatus(data)
		row.RSS, row.Swap, row.CPUs = s.RSS, s.Swap, s.CPUs
	}
	if data, err := r.read(pid, "io"); err == nil {
		row.ReadBytes, row.WrittenBytes = parseIO(data)
	}
}

// io is what a process had read from and written to disks, bytes; nil where that
// may not be read.
func (r *procReader) io(pid int) (read, written *uint64) {
	data, err := r.read(pid, "io")
	if err != nil {
		return nil, nil
	}
	return parseIO(data)
}

// procStatus is what of /proc/PID/status is used; a kernel thread has no memory.
type procStatus struct {
	RSS, Swap *uint64 // bytes
	CPUs      string  // Cpus_allowed_list
}

func parseStatus(data []byte) procStatus {
	var s procStatus
	eachColon(data, func(name, value []byte) {
		switch string(name) {
		case "VmRSS":
			s.RSS = kilobytes(value)
		case "VmSwap":
			s.Swap = kilobytes(value)
		case "Cpus_allowed_list":
			s.CPUs = cpuList(value)
		}
	})
	return s
}

// longestList of CPUs that is kept: a list of every other one of 256 is longer,
// and tells no more.
const longestList = 100

// cpuList takes a list of CPUs, "0-3,7", if it is one.
func cpuList(value []byte) string {
	for _, c := range value {
		if (c < '0' || c > '9') && c != '-' && c != ',' {
			return ""
		}
	}
	if len(value) > longestList {
		return ""
	}
	return string(value)
}

// parseIO reads read_bytes and write_bytes of /proc/PID/io (proc_pid_io(5)): what
// went to and came from disks, not what the page cache served.
func parseIO(data []byte) (read, written *uint64) {
	eachColon(data, func(name, value []byte) {
		v, ok := procfile.Number(value)
		if !ok || v < 0 {
			return
		}
		n := uint64(v)
		switch string(name) {
		case "read_bytes":
			read = &n
		case "write_bytes":
			written = &n
		}
	})
	return read, written
}

// eachColon reads lines "name: value".
func eachColon(data []byte, each func(name, value []byte)) {
	for len(data) > 0 {
		var line []byte
		line, data = procfile.CutLine(data)
		if name, value, ok := bytes.Cut(line, []byte(":")); ok {
			each(bytes.TrimSpace(name), bytes.TrimSpace(value))
		}
	}
}

func kilobytes(value []byte) *uint64 {
	field, _ := procfile.CutField(value)
	v, ok := procfile.Number(field)
	if !ok || v < 0 {
		return nil
	}
	n := uint64(v) * 1024
	return &n
}
