package host

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"snag/recording/kernellog"
)

// logRecord is one record of /dev/kmsg.
type logRecord struct {
	Priority int // syslog's: 0 emergency … 7 debug
	Sequence uint64
	Micros   int64 // of the kernel's local clock, which begins near boot
	Line     string
}

var errLogRecord = errors.New("not in the form of /dev/kmsg")

// parseLogRecord reads "6,339,5140900,-;message\n SUBSYSTEM=…" (kernel
// Documentation/ABI/testing/dev-kmsg). Fields that later kernels put before the
// semicolon are passed over, and so are the dictionary's lines.
func parseLogRecord(data []byte) (logRecord, error) {
	head, message, ok := bytes.Cut(data, []byte(";"))
	if !ok {
		return logRecord{}, errLogRecord
	}
	f := strings.SplitN(string(head), ",", 4)
	if len(f) < 3 {
		return logRecord{}, errLogRecord
	}
	prefix, err1 := strconv.ParseUint(f[0], 10, 32)
	seq, err2 := strconv.ParseUint(f[1], 10, 64)
	micros, err3 := strconv.ParseInt(f[2], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil || micros < 0 {
		return logRecord{}, errLogRecord
	}
	line, _, _ := bytes.Cut(message, []byte("\n"))
	return logRecord{Priority: int(prefix & 7), Sequence: seq, Micros: micros, Line: kernellog.Clean(line)}, nil
}
