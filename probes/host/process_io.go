package host

import (
	"snag/internal/procfile"
	"snag/recording"
)

// Whose disk traffic is read in a scan. A process that used no CPU time since the last scan and does not wait
// for a disk has hardly any: it is looked at in every sixth scan only, so that hundreds that sleep do not
// keep the others from being looked at.
const (
	mostIO   = 300
	idleTurn = 6
)

// diskUse is what a process had read from and written to disks at a time, bytes; nil where that may not be
// read.
type diskUse struct {
	t         recording.Time
	read      *uint64
	written   *uint64 // pages that it made dirty are in it, which the kernel may write later
	cancelled *uint64 // of written: the file was truncated or deleted before the kernel wrote it
}

func (u diskUse) known() bool { return u.read != nil && u.written != nil }

// since is the traffic since an earlier time, bytes; 0 where either is not known.
func (u diskUse) since(before diskUse) float64 {
	if !u.known() || !before.known() {
		return 0
	}
	return float64(*u.read) - float64(*before.read) + float64(*u.written) - float64(*before.written)
}

func (u diskUse) fill(row *recording.Process) {
	row.ReadBytes, row.WrittenBytes, row.CancelledBytes = u.read, u.written, u.cancelled
}

// dueIO reports whether the disk traffic of a process is read in this scan.
func (p *processes) dueIO(one *process, before use, stat procStat) bool {
	if one.kernel || p.ioLooks >= mostIO {
		return false
	}
	if before.t == 0 || stat.State == 'D' || stat.CPU != before.stat.CPU || stat.Major != before.stat.Major {
		return true
	}
	return (one.pid+p.scans)%idleTurn == 0
}

// io reads a process' disk traffic.
func (r *procReader) io(pid int) diskUse {
	data, err := r.read(pid, "io")
	if err != nil {
		return diskUse{}
	}
	return parseIO(data)
}

// parseIO reads read_bytes, write_bytes and cancelled_write_bytes of /proc/PID/io (proc_pid_io(5)): what
// came from and goes to disks, not what the page cache served.
func parseIO(data []byte) (u diskUse) {
	eachColon(data, func(name, value []byte) {
		v, ok := procfile.Number(value)
		if !ok || v < 0 {
			return
		}
		n := uint64(v)
		switch string(name) {
		case "read_bytes":
			u.read = &n
		case "write_bytes":
			u.written = &n
		case "cancelled_write_bytes":
			u.cancelled = &n
		}
	})
	return u
}
