package recording

import (
	"errors"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// writerProbe names the writer in the coverage.
const writerProbe = "recording"

// loop writes what has come in, once a second, until Close.
func (w *Writer) loop() {
	defer close(w.done)
	next := w.opened.Add(w.o.every)
	timer := time.NewTimer(w.o.every)
	defer timer.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-w.failed:
			<-w.stop
			return
		case <-w.wake:
			w.charged(func() { w.fail(w.flush(w.o.Wait)) })
		case <-timer.C:
			w.late = max(w.late, time.Since(next))
			w.charged(func() {
				w.tell(false)
				w.fail(w.flush(true))
			})
			next = next.Add(w.o.every)
			if behind := time.Since(next); behind > 0 {
				next = next.Add(behind) // a slow disk: go on from here
			}
			timer.Reset(time.Until(next))
		}
	}
}

// charged adds the CPU time of f to the writer's cost: that of its thread, which is its own meanwhile.
func (w *Writer) charged(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadCPU()
	f()
	w.cost += threadCPU() - before
}

// flush hands everything taken so far to the kernel: samples, then tables.
func (w *Writer) flush(withSamples bool) error {
	type part struct {
		t     *tableFile
		lines []*buffer
	}
	var parts []part
	var batch []sample
	w.mu.Lock()
	if w.err != nil {
		w.mu.Unlock()
		return nil
	}
	if withSamples {
		batch, w.batch = w.batch, w.spare[:0]
	}
	for _, t := range tables {
		if f := w.tables[t.name]; len(f.buf) > 0 {
			parts = append(parts, part{f, f.take()})
		}
	}
	w.held = 0
	w.mu.Unlock()
	defer w.written.Broadcast()

	if withSamples {
		refused, err := w.store.commit(batch)
		if err != nil {
			return err
		}
		w.samples += uint64(len(batch) - refused)
		w.mu.Lock()
		w.refused.addN(uint64(refused), "samples that the store would not take in this order", "")
		w.mu.Unlock()
		clear(batch)
		w.spare = batch[:0]
	}
	for _, p := range parts {
		for _, c := range p.lines {
			if err := p.t.write(w.at, c.lines); err != nil {
				return err
			}
		}
		release(p.lines)
	}
	if w.o.onFlush != nil {
		rows := map[string]int{}
		for name, t := range w.tables {
			rows[name] = t.rows
		}
		w.o.onFlush(rows, int(w.samples))
	}
	return nil
}

// tell puts the writer's own coverage row into the table: at the end, and
// earlier when it had to refuse something new.
func (w *Writer) tell(last bool) {
	w.mu.Lock()
	n, why := w.refused.n, ""
	if n > 0 {
		why = w.refused.String()
	}
	start := w.manifest.Start
	w.mu.Unlock()
	if !last && n == w.told {
		return
	}
	w.told = n
	c := Coverage{Probe: writerProbe, State: CoverageOK, Since: start, Lost: n, Late: w.late.Seconds(), Cost: w.cost}
	if n > 0 {
		c.State, c.Why = CoveragePartial, why
		c.Cure = "if these labels are right for this host, judge what is there: the rest is recorded"
	}
	w.Append(c)
}

// Close ends the recording: it writes what is left, turns the samples into one
// block, and sets the manifest's end. It returns the first error of the
// recording; what was written before is kept and can be judged.
func (w *Writer) Close() error {
	w.once.Do(func() {
		w.over() // what follows takes seconds on a slow disk, and nobody measures any more
		close(w.stop)
		<-w.done
		w.tell(true)
		w.mu.Lock()
		w.closed = true
		w.mu.Unlock()
		w.fail(w.flush(true))
		w.finish()
	})
	return w.Err()
}

// over notes when the recording ends.
func (w *Writer) over() {
	if w.o.Now != nil {
		w.closing = w.o.Now()
	}
}

func (w *Writer) finish() {
	if w.Err() == nil {
		w.fail(w.store.seal())
	} else {
		// The disk is full or broken: the log stays as it is, and is replayed.
		_ = w.store.close() // the first error is already kept
	}
	var errs []error
	written := &Written{Series: len(w.series), Samples: w.samples, Rows: map[string]int{}}
	for name, t := range w.tables {
		errs = append(errs, t.close())
		if t.rows > 0 {
			written.Rows[name] = t.rows
		}
	}
	w.fail(errors.Join(errs...))

	w.mu.Lock()
	if w.manifest.End == 0 {
		w.manifest.End = w.end
		if w.err == nil {
			w.manifest.End = max(w.end, w.closing)
		}
	}
	w.manifest.Written = written
	if w.err != nil {
		w.manifest.Written, w.manifest.Broken = nil, w.err.Error()
	}
	m := w.manifest
	w.mu.Unlock()
	w.fail(writeManifest(w.place, m))
	unlockDir(w.lock)
	_ = w.folder.Close() // all is written and synced
}

// threadCPU is the CPU time of the calling thread, seconds.
func threadCPU() float64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0 // every kernel that snag runs on has this clock
	}
	return float64(ts.Nano()) / 1e9
}
