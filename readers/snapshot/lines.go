package snapshot

import (
	"bytes"
	"iter"
)

// longestLine of an output is read, bytes; what lies behind it is left out. A table in
// JSON is one line.
const longestLine = 4 << 20

// cutLines shortens lines in place that are no line of a program that snag knows, so
// that no parser copies them.
func cutLines(data []byte) (kept []byte, cut bool) {
	kept = data[:0]
	for line := range bytes.Lines(data) {
		if len(line) > longestLine {
			cut = true
			line = append(line[:longestLine-1], '\n')
		}
		kept = append(kept, line...)
	}
	return kept, cut
}

// lines are an output's lines without their ends, one at a time: a copy of the whole
// would take as much memory again.
func lines(data []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range bytes.Lines(data) {
			if !yield(string(bytes.TrimSuffix(line, []byte("\n")))) {
				return
			}
		}
	}
}
