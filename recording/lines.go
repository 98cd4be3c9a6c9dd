package recording

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxTable bounds what is read of one table into memory, bytes.
const maxTable = 1 << 30

// lineDamage is what was wrong with the lines of one file.
type lineDamage struct {
	bad, long   int // lines that can't be read; of them, longer than maxLine
	first       int // number of the first of them
	why         error
	torn        bool // the last line has no end and can't be read
	tornAt      int
	stopped     error // reading ended here
	lines, good int
}

// eachLine hands every line of a JSONL file to row and goes on after one that
// row refuses. A last line without its newline counts if it can be read whole:
// nothing of it is lost then.
func eachLine(r io.Reader, row func(line []byte) error) lineDamage {
	var d lineDamage
	in := bufio.NewReaderSize(&io.LimitedReader{R: r, N: maxTable + 1}, 64<<10)
	var line []byte
	read := 0
	for {
		line = line[:0]
		long := false
		var err error
		for {
			var part []byte
			part, err = in.ReadSlice('\n')
			read += len(part)
			if len(line)+len(part) > maxLine {
				long = true
			} else {
				line = append(line, part...)
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		if read > maxTable {
			d.stopped = fmt.Errorf("over %d MB", maxTable>>20)
			return d
		}
		ended := err == nil
		if !ended && !errors.Is(err, io.EOF) {
			d.stopped = err
			return d
		}
		if len(line) == 0 && !long {
			return d // the end of the file
		}
		if ended && len(line) == 1 && !long {
			continue // an empty line
		}
		d.lines++
		why := errors.New("over 1 MB")
		if long {
			d.long++
		} else if why = row(line); passed(why) {
			d.stopped = why
			return d
		} else if why == nil {
			d.good++
			if !ended {
				return d
			}
			continue
		}
		if !ended && !long {
			d.torn, d.tornAt = true, d.lines
			return d
		}
		if d.bad++; d.bad == 1 {
			d.first, d.why = d.lines, why
		}
		if !ended {
			return d
		}
	}
}

// passed reports whether a bound was passed: nothing more is read then.
func passed(err error) bool {
	var over *LimitError
	return errors.As(err, &over)
}

// sentences reports what of a file was lost, for Recording.Damage.
func (d lineDamage) sentences(name string) []string {
	var out []string
	if d.bad == 1 {
		out = append(out, fmt.Sprintf("%s: line %d can't be read (%s): 1 line lost", name, d.first, cut(d.why.Error(), 160)))
	}
	if d.bad > 1 {
		out = append(out, fmt.Sprintf("%s: %d lines can't be read, the first is line %d (%s): %d lines lost", name, d.bad, d.first, cut(d.why.Error(), 160), d.bad))
	}
	if d.torn {
		out = append(out, fmt.Sprintf("%s: the last line, %d, is cut off: 1 line lost", name, d.tornAt))
	}
	if d.stopped != nil {
		out = append(out, fmt.Sprintf("%s: reading ended after line %d: %v: what follows is lost", name, d.lines, d.stopped))
	}
	return out
}
