package recorder

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"snag/probes/probe"
	"snag/recorder/rule"
	"snag/recording"
)

// pieceWriter writes what the probes measure to the ring, one piece after the other. It implements
// probes.Keeper and never waits for the disk. When the disk is full it pauses.
type pieceWriter struct {
	dir   string
	base  recording.Manifest
	now   func() recording.Time
	round *probe.Rotation
	note  func(string)

	turning sync.RWMutex // read-locked to write to a piece, locked to begin the next
	w       *recording.Writer
	name    string       // folder of the current piece
	stacks  map[int]bool // stacks written to it
	earlier map[int]bool // stacks written to the piece before

	mu     sync.Mutex
	wire   *trigger
	rules  []*rule.Rule
	state  recording.State
	silent time.Duration // length of a piece, in which probes write again what is still there
	known  *stacks
	before map[string]recording.Coverage // coverage when the piece began
	cover  map[string]covered            // coverage as last written
	late   map[string]float64            // longest delay in this piece by probe, s

	failure error // why no piece could be opened
	failed  chan struct{}
	packing sync.WaitGroup
	packed  func() // is called when a piece has been packed
	also    recording.Sink
}

func newWriter(dir string, m recording.Manifest, now func() recording.Time, round *probe.Rotation, note func(string)) (*pieceWriter, error) {
	t := &pieceWriter{
		dir: dir, base: m, now: now, round: round, note: note, wire: newTrigger(), silent: pieceLength,
		known: newStacks(), before: map[string]recording.Coverage{}, cover: map[string]covered{}, late: map[string]float64{}, failed: make(chan struct{}), packed: func() {},
	}
	if err := t.begin(m.Start); err != nil {
		return nil, err
	}
	return t, nil
}

// Failed implements probes.Keeper. It is never closed: a ring pauses and resumes.
func (t *pieceWriter) Failed() <-chan struct{} { return t.failed }

// begin opens a piece. The caller holds turning or has sole access.
func (t *pieceWriter) begin(start recording.Time) error {
	name := openName(start)
	m := t.base
	m.Start = start
	w, err := recording.Create(filepath.Join(t.dir, name), m, recording.Options{Now: t.now, Lines: true})
	if err != nil {
		return err
	}
	t.w, t.name, t.stacks = w, name, map[int]bool{}
	return nil
}

// Sample implements recording.Sink.
func (t *pieceWriter) Sample(at recording.Time, name string, l recording.Labels, v float64) {
	if name == "snag_probe_late_seconds" {
		t.mu.Lock()
		t.late[l["probe"]] = max(t.late[l["probe"]], v)
		t.mu.Unlock()
	}
	if t.also != nil {
		t.also.Sample(at, name, l, v)
	}
	if len(t.rules) > 0 {
		t.mu.Lock()
		for _, r := range t.rules {
			r.Sample(at, name, l, v)
		}
		t.mu.Unlock()
	}
	t.turning.RLock()
	defer t.turning.RUnlock()
	if t.w != nil {
		t.w.Sample(at, name, l, v)
	}
}

// Append implements recording.Sink.
func (t *pieceWriter) Append(row recording.Row) {
	if t.also != nil {
		t.also.Append(row)
	}
	t.turning.RLock()
	defer t.turning.RUnlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	says := t.state.Take(row)
	t.wire.Take(row)
	if s, ok := row.(recording.Stack); ok { // written with the first row that refers to it
		t.known.put(s)
		return
	}
	if e, ok := row.(recording.Event); ok && e.Kind == recording.EventSuspended && e.End > e.T {
		// The clock went on, so that no new session names it (movedSince).
		t.note(moved{slept: e.End.Sub(e.T)}.Error())
	}
	if says { // else the piece began with it
		t.write(row)
	}
}

// write writes a row to the current piece. The caller holds both locks.
func (t *pieceWriter) write(row recording.Row) {
	if t.w == nil {
		return
	}
	recording.EachStack(row, func(id int) {
		if t.stacks[id] {
			return
		}
		if s, known := t.known.get(id); known {
			t.stacks[id] = true
			t.w.Append(s)
		}
	})
	if c, ok := row.(recording.Coverage); ok {
		if last := t.cover[c.Probe]; last.in == t.w && last.state == c.State+c.Why && c.Lost == last.lost && t.now().Sub(last.at) < coverEach {
			return // the last one is written at the end of the piece
		}
		t.cover[c.Probe] = covered{t.w, t.now(), c.State + c.Why, c.Lost}
		row = t.ofPiece(c)
	}
	t.w.Append(row)
}

// covered is a coverage row that was written. Some probes send one per second in case the recording is
// cut off; one in ten seconds is enough.
type covered struct {
	in    *recording.Writer
	at    recording.Time
	state string
	lost  uint64
}

const coverEach = 10 * time.Second

// ofPiece converts a coverage row, which counts since the probes started, to the current piece.
func (t *pieceWriter) ofPiece(c recording.Coverage) recording.Coverage {
	if before, known := t.before[c.Probe]; known {
		c.Lost -= min(c.Lost, before.Lost)
		c.Cost = max(0, c.Cost-before.Cost)
		probe, _, _ := strings.Cut(c.Probe, ".")
		c.Late = min(c.Late, t.late[probe])
	}
	return c
}

// turn closes the piece and opens the next one, which starts with the current state of the host.
func (t *pieceWriter) turn() error {
	t.turning.Lock()
	old, name, stacks := t.w, t.name, t.stacks
	now := t.now()
	err := t.begin(now)
	if t.failure = err; err != nil {
		t.w = nil
	}
	t.mu.Lock()
	if old != nil {
		t.closeCoverage(old)
	}
	clear(t.late)
	t.state.Prune(now, t.silent)
	t.known.prune(t.earlier, stacks)
	t.earlier = stacks
	t.state.Rows(func(row recording.Row) bool {
		if c, ok := row.(recording.Coverage); ok {
			t.before[c.Probe] = c
		}
		t.write(row)
		return true
	})
	t.mu.Unlock()
	t.turning.Unlock()
	t.round.Rotate()
	t.finish(old, name)
	return err
}

// closeCoverage writes the final coverage of a piece.
func (t *pieceWriter) closeCoverage(w *recording.Writer) {
	t.state.Rows(func(row recording.Row) bool {
		if c, ok := row.(recording.Coverage); ok {
			w.Append(t.ofPiece(c))
		}
		return true
	})
}

// finish closes and packs a piece in the background. If the disk is full, the folder stays until there
// is space (salvage).
func (t *pieceWriter) finish(w *recording.Writer, name string) {
	if w == nil {
		return
	}
	end := t.now()
	t.packing.Go(func() {
		if w.Err() != nil {
			_ = w.Close() // the error was reported
			return
		}
		if err := errors.Join(w.Close(), pack(t.dir, name, end)); err != nil {
			t.note(err.Error())
		}
		t.packed()
	})
}

// why says what recording waits for, and why.
func (t *pieceWriter) why() string {
	t.turning.RLock()
	defer t.turning.RUnlock()
	if t.w == nil {
		return whyPaused(t.failure)
	}
	return whyPaused(t.w.Err())
}

// whyPaused says what recording waits for, and why, without the cure for a recording of its own: a ring does not end,
// and has no --out.
func whyPaused(err error) string {
	if !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) {
		return "the disk can be written: " + err.Error()
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return "there is space: " + err.Error()
}

// noticed returns what the trigger and the rules say of the last second.
func (t *pieceWriter) noticed() notice {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	n := notice{why: t.wire.Tick(now)}
	if why := t.wire.streams.tick(now); why != "" {
		n.why, n.stream = why, true
	}
	n.known = slices.Sorted(maps.Keys(t.wire.streams.known))
	for _, r := range t.rules {
		if text, ok := r.Holds(now); ok {
			n.why, n.ruled = text, true
			return n
		}
	}
	return n
}

// measures returns the coverage of each probe so far.
func (t *pieceWriter) measures() map[string]recording.Coverage {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := map[string]recording.Coverage{}
	t.state.Rows(func(row recording.Row) bool {
		if c, ok := row.(recording.Coverage); ok {
			out[c.Probe] = c
		}
		return true
	})
	return out
}

// current is the folder of the piece being written.
func (t *pieceWriter) current() string {
	t.turning.RLock()
	defer t.turning.RUnlock()
	return t.name
}

// check reports whether writing works.
func (t *pieceWriter) check() bool {
	t.turning.RLock()
	w := t.w
	t.turning.RUnlock()
	return w != nil && w.Err() == nil
}

// Close implements probes.Keeper.
func (t *pieceWriter) Close() error {
	t.turning.Lock()
	w, name := t.w, t.name
	t.w = nil
	t.turning.Unlock()
	t.finish(w, name)
	t.packing.Wait()
	return nil
}

// pack packs a piece's folder into a file and removes the folder.
func pack(ring, name string, end recording.Time) error {
	p, ok := parse(name)
	if !ok {
		return nil
	}
	dir := filepath.Join(ring, name)
	if !end.Wall().After(p.Start.Wall().Add(time.Millisecond)) {
		return removeOpen(dir)
	}
	if err := recording.PackLines(dir, filepath.Join(ring, nameOf(p.Start, end, time.Second))); err != nil {
		return err
	}
	return removeOpen(dir)
}

// packedMark ends the name of an open piece that is being removed.
const packedMark = ".packed"

// removeOpen removes the folder of an open piece: at once for those who read the ring, who must not find
// half of it.
func removeOpen(dir string) error {
	if err := os.Rename(dir, dir+packedMark); err != nil {
		return err
	}
	return os.RemoveAll(dir + packedMark)
}
