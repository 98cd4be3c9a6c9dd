// Package clientlog is what clients of the lab write down, and how it is read: one line
// for each request, datagram count or delivery, as they met it. The referee compares such
// logs; snag never reads them.
//
// A line has blanks between its fields. Times are nanoseconds since 1970, lengths
// nanoseconds:
//
//	r START LENGTH OUTCOME   a request: ok, failed (answered with an error), lost (no
//	                         answer before the client gave up), open (no answer yet);
//	                         a fifth field is for how long it was due before the client
//	                         had a connection to ask on, where that is part of its LENGTH
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
	open    map[int64]request
	counted map[byte]int
	stop    chan struct{}
	last    int64
}

// request that has no answer yet.
type request struct {
	at   time.Time
	late time.Duration // that it was begun after that
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
	w := &Writer{out: bufio.NewWriterSize(f, 64<<10), file: f, open: map[int64]request{}, counted: map[byte]int{}, stop: make(chan struct{})}
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
	w.open[id] = request{at: at}
	return id
}

// BeginDue is Begin for a request that was due at that time, for which the client has a connection
// only now.
func (w *Writer) BeginDue(at time.Time) (id int64) {
	if w == nil {
		return 0
	}
	id = w.Begin(at)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[id] = request{at, max(0, time.Since(at))}
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
	q, ok := w.open[id]
	if !ok {
		return
	}
	delete(w.open, id)
	q.write(w.out, id, when, o)
}

func (q request) write(to io.Writer, id int64, when time.Time, o Outcome) {
	fmt.Fprintf(to, "r %d %d %s", id, when.Sub(q.at).Nanoseconds(), o)
	if q.late > 0 {
		fmt.Fprintf(to, " %d", q.late.Nanoseconds())
	}
	fmt.Fprintln(to)
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
	for id, q := range w.open {
		if now.Sub(q.at) > 2*flushes {
			q.write(w.out, id, now, Open)
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
