package recording

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"snag/internal/private"
)

// Writer puts a recording on the disk. It is a Sink: probes hand it what they
// measure and never wait for the disk; a loop of its own writes once a second.
type Writer struct {
	place
	o      Options
	lock   *os.File
	folder *private.Folder

	opened time.Time
	wake   chan struct{} // a table has grown a lot: write it now
	stop   chan struct{}
	done   chan struct{}
	failed chan struct{}
	once   sync.Once

	mu       sync.Mutex
	manifest Manifest
	err      error
	closed   bool
	series   map[string]*series
	key      []byte
	batch    []sample
	tables   map[string]*tableFile
	refused  refusals
	end      Time // last time seen
	closing  Time // when it was to be closed
	held     int  // bytes taken and not yet handed to the kernel
	written  *sync.Cond

	// Only the loop, and Close once the loop is done.
	store   sampleStore
	spare   []sample
	samples uint64
	told    uint64 // refusals already in the coverage
	late    time.Duration
	cost    float64
}

var _ Sink = (*Writer)(nil)

func newWriter(p place, m Manifest, o Options, store sampleStore) *Writer {
	w := &Writer{
		place: p, o: o, opened: time.Now(), manifest: m, store: store, end: m.Start,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}), failed: make(chan struct{}),
		series: map[string]*series{}, tables: map[string]*tableFile{},
	}
	w.written = sync.NewCond(&w.mu)
	for _, t := range tables {
		w.tables[t.name] = &tableFile{name: t.name}
	}
	return w
}

// Dir is the recording's folder.
func (w *Writer) Dir() string { return w.name }

// Err is the first error that kept something from the disk, or nil.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Failed is closed at the first error. What comes later is dropped; what was
// written before stays and can be judged.
func (w *Writer) Failed() <-chan struct{} { return w.failed }

// Update changes the manifest (the target once it is resolved, the symptoms) and
// writes it.
func (w *Writer) Update(change func(*Manifest)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.err != nil {
		return errors.Join(errors.New("change the manifest: the recording has ended"), w.err)
	}
	change(&w.manifest)
	w.manifest.Version, w.manifest.Written = Version, nil
	return writeManifest(w.place, w.manifest)
}

// lines are for rows on their way to a table.
var lines = sync.Pool{New: func() any { return new([]byte) }}

// Append adds a row to its table.
func (w *Writer) Append(row Row) { w.append(row, 0) }

func (w *Writer) append(row Row, part int) {
	if row == nil {
		return
	}
	t, table := w.tables[row.Table()], tableNamed(row.Table())
	var line []byte
	var err error
	if table != nil { // outside the lock: it is most of the cost
		scratch := lines.Get().(*[]byte)
		defer lines.Put(scratch)
		line, err = table.encode((*scratch)[:0], row)
		*scratch = line
		line = marked(line, part)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.err != nil {
		return
	}
	switch {
	case t == nil:
		w.refused.add("rows of a table that this version has not", row.Table())
		return
	case err != nil: // NaN or infinite numbers
		w.refused.add("rows that JSON can't hold", fmt.Sprintf("%s: %v", row.Table(), err))
		return
	case len(line) >= maxLine:
		w.refused.add("rows over 1 MB", row.Table())
		return
	}
	w.seen(table.time(row))
	t.add(line)
	if t.held > w.o.maxBatch {
		w.rouse()
	}
	w.hold(len(line) + 1)
}

// rouse has the loop write now.
func (w *Writer) rouse() {
	select {
	case w.wake <- struct{}{}:
	default: // it is awake
	}
}

// mostHeld of what is not written is kept where the writer may make its callers
// wait, bytes.
const mostHeld = 1 << 20

// hold counts what was taken, and waits where it is too much. The caller holds the
// lock.
func (w *Writer) hold(n int) {
	if !w.o.Wait {
		return
	}
	for w.held += n; w.held > mostHeld && w.err == nil && !w.closed; {
		w.rouse()
		w.written.Wait()
	}
}

// seen keeps the last time, for the manifest's end. A wild time is no end.
func (w *Writer) seen(t Time) {
	if t > w.end && (w.o.Files || t <= w.manifest.Start.Add(time.Since(w.opened)+maxAhead)) {
		w.end = t
	}
}

// explain says what a full disk means in words that help.
func explain(dir string, err error) error {
	first := &firstLine{err}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("the recording in %s ends here: %w: free some space or record to another disk (--out); what was written is kept", dir, first)
	}
	return fmt.Errorf("the recording in %s ends here: %w; what was written is kept", dir, first)
}

// firstLine says an error in one line: on a full disk everything that follows
// the first failure fails too, and joined errors are a line each.
type firstLine struct{ err error }

func (e *firstLine) Error() string {
	first, _, _ := strings.Cut(e.err.Error(), "\n")
	return first
}

func (e *firstLine) Unwrap() error { return e.err }

func (w *Writer) fail(err error) {
	if err == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	w.err = explain(w.name, w.named(err))
	w.batch = nil
	for _, t := range w.tables {
		t.buf = nil
	}
	close(w.failed)
	w.written.Broadcast()
}
