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
		parseIO(data).fill(row)
	}
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
