package perf

import (
	"bytes"
	"os"

	"snag/readers/reader"
)

// firstTime is the time of the first sample in a file's beginning; -1: it has none.
func firstTime(head []byte) int64 {
	for len(head) > 0 {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		head = rest
		if !whole || len(line) == 0 || line[0] == '#' || line[0] == '\t' {
			continue
		}
		if h, ok := parseHeader(bytes.TrimRight(line, "\r")); ok && h.at >= 0 {
			return h.at
		}
	}
	return -1
}

// lastTime is that of the last one, where the file's end can be looked at: it is
// plain, and no pipe. -1: it can't.
func lastTime(in *reader.Input) int64 {
	if in.Packed != "" || in.Size == 0 {
		return -1
	}
	f, err := os.Open(in.Path)
	if err != nil {
		return -1
	}
	defer f.Close()
	tail := make([]byte, 64<<10)
	n, _ := f.ReadAt(tail, max(0, in.Size-int64(len(tail))))
	return timeAtEnd(tail[:n])
}

func timeAtEnd(tail []byte) int64 {
	for len(tail) > 0 {
		i := bytes.LastIndexByte(tail, '\n')
		line := bytes.TrimRight(tail[i+1:], "\r")
		tail = tail[:max(i, 0)]
		if i < 0 { // its beginning may lie before
			return -1
		}
		if len(line) == 0 || line[0] == '\t' || line[0] == '#' {
			continue
		}
		if h, ok := parseHeader(line); ok && h.at >= 0 {
			return h.at
		}
	}
	return -1
}
