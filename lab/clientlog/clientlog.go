// Package clientlog is what clients of the lab write down, and how it is read: one line
// for each request, datagram count or delivery, as they met it. The referee compares such
// logs; snag never reads them.
//
// A line has blanks between its fields. Times are nanoseconds since 1970, lengths
// nanoseconds:
//
//	r START LENGTH OUTCOME   a request: ok, failed (answered with an error), lost (no
//	                         answer before the client gave up), open (no answer yet)
//	s TIME N                 N datagrams were sent since the line before
//	d TIME N                 N datagrams arrived since the line before
//	f TIME N                 N bytes or frames of a stream arrived since the line before
//
// An open request is written again and again, and once more when it ends: the last line
// with its START counts. A last line that was cut off is left out. Programs in other
// languages write the same (lab/pyclient).
package clientlog

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Outcome of a request.
type Outcome string

// The outcomes.
const (
	OK     Outcome = "ok"
	Failed Outcome = "failed"
	Lost   Outcome = "lost"
	Open   Outcome = "open"
)

// flushes is how often lines reach the file: the log is read while its client runs.
const flushes = 100 * time.Millisecond

// Writer writes the log of one client. Its methods may be called from any goroutine. A
// nil Writer writes nothing.
type Writer struct {
	mu      sync.Mutex
	out     *bufio.Writer
	file    io.Closer
	open    map[int64]time.Time
	counted map[byte]int
	stop    chan struct{}
	last    int64
}

// Create makes the log; "" gives a nil Writer.
func Create(path string) (*Writer, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("make the client's log: %w", err)
	}
	w := &Writer{out: bufio.NewWriterSize(f, 64<<10), file: f, open: map[int64]time.Time{}, counted: map[byte]int{}, stop: make(chan struct{})}
	go w.flushing()
	return w, nil
}

// Begin notes that a request was due at that time, and returns what End takes. Of an open
// loop the time is the intended one, so that a client that was held up itself hides
// nothing.
func (w *Writer) Begin(at time.Time) (id int64) {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	id = max(at.UnixNano(), w.last+1) // two requests never share a START
	w.last = id
	w.open[id] = at
	return id
}

// End notes how a request ended.
func (w *Writer) End(id int64, o Outcome) { w.EndAt(id, time.Now(), o) }

// EndAt is End for one that ended some time ago, by another program's clock readings.
func (w *Writer) EndAt(id int64, when time.Time, o Outcome) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at, ok := w.open[id]
	if !ok {
		return
	}
	delete(w.open, id)
	fmt.Fprintf(w.out, "r %d %d %s\n", id, when.Sub(at).Nanoseconds(), o)
}

// Sent counts datagrams at the sender.
func (w *Writer) Sent(n int) { w.count('s', n) }

// Arrived counts datagrams at the receiver.
func (w *Writer) Arrived(n int) { w.count('d', n) }

// Delivered counts bytes or frames of a stream at its reader.
func (w *Writer) Delivered(n int) { w.count('f', n) }

func (w *Writer) count(kind byte, n int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counted[kind] += n
}

func (w *Writer) flushing() {
	tick := time.NewTicker(flushes)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
			w.flush()
		}
	}
}

func (w *Writer) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for kind, n := range w.counted {
		if n > 0 {
			fmt.Fprintf(w.out, "%c %d %d\n", kind, now.UnixNano(), n)
			w.counted[kind] = 0
		}
	}
	for id, at := range w.open {
		if age := now.Sub(at); age > 2*flushes {
			fmt.Fprintf(w.out, "r %d %d %s\n", id, age.Nanoseconds(), Open)
		}
	}
	_ = w.out.Flush() // a log that can't be written shows as one that is too short
}

// Close writes what is left.
func (w *Writer) Close() error {
	if w == nil {
		return nil
	}
	close(w.stop)
	w.flush()
	return w.file.Close()
}
