package host

import (
	"bytes"

	"snag/internal/procfile"
)

// diskStat are running totals of one disk (kernel Documentation/admin-guide/iostats.rst).
// Times are what the requests took together; IOTime is how long any was under way.
type diskStat struct {
	Reads, ReadBytes, ReadTime    float64 // seconds
	Writes, WriteBytes, WriteTime float64
	Now                           float64 // requests under way
	IOTime, Weighted              float64 // seconds
	Flushes, FlushTime            float64
	HasFlushes                    bool // 5.5 and later
}

// sector is the unit of the kernel's counts, whatever the disk's own is.
const sector = 512

// parseDiskstats reads /proc/diskstats: major, minor, name, then 11 to 17 fields.
func parseDiskstats(data []byte, each func(name []byte, d diskStat)) (bad int) {
	for len(data) > 0 {
		var line []byte
		line, data = procfile.CutLine(data)
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		_, rest := procfile.CutField(line)
		_, rest = procfile.CutField(rest)
		name, rest := procfile.CutField(rest)
		var f [17]float64
		n := 0
		for ; n < len(f); n++ {
			var field []byte
			if field, rest = procfile.CutField(rest); len(field) == 0 {
				break
			}
			v, ok := procfile.Number(field)
			if !ok {
				break
			}
			f[n] = v
		}
		if n < 11 || len(name) == 0 {
			bad++
			continue
		}
		each(name, diskStat{
			Reads: f[0], ReadBytes: f[2] * sector, ReadTime: f[3] / 1e3,
			Writes: f[4], WriteBytes: f[6] * sector, WriteTime: f[7] / 1e3,
			Now: f[8], IOTime: f[9] / 1e3, Weighted: f[10] / 1e3,
			Flushes: f[15], FlushTime: f[16] / 1e3, HasFlushes: n >= 17,
		})
	}
	return bad
}
