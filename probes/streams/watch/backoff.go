package watch

import (
	"cmp"
	"time"
)

// Waits between two attempts to read a stream.
const (
	firstWait = time.Second
	mostWait  = 30 * time.Second
	// steadyAfter is how long a stream must have given frames for its next
	// attempt to begin at firstWait again: a server that lets in and throws out
	// must not be asked each second.
	steadyAfter = 10 * time.Second
)

// backoff is how long to wait before a stream is asked again: twice as long each
// time, and never at the same moment as all the others that were cut off with it.
type backoff struct {
	failed int
	most   time.Duration // 0: mostWait
}

// next is the wait after one more failure. random is from [0, 1): the wait is
// from half of the step to all of it.
func (b *backoff) next(random float64) time.Duration {
	step := cmp.Or(b.most, mostWait)
	if b.failed < 5 { // 1 2 4 8 16, then 30 s
		step = min(step, firstWait<<b.failed)
	}
	b.failed++
	return step/2 + time.Duration(random*float64(step/2))
}

// steady is told that the stream was read for so long.
func (b *backoff) steady(read time.Duration) {
	if read >= steadyAfter {
		b.failed = 0
	}
}
