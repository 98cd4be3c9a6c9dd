package recorder

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

// tape takes what the probes measure and writes it to the ring, piece after piece. It is what a
// probes.Keeper is: a sink that does not wait for the disk. On a disk that is full it pauses.
type tape struct {
	dir   string
	base  recording.Manifest
	now   func() recording.Time
	round *probe.Round
	note  func(string)

	turning sync.RWMutex // held by who writes to a piece, and alone by who begins the next
	w       *recording.Writer
	name    string       // of its folder
	stacks  map[int]bool // that it has
	earlier map[int]bool // that the one before had

	mu     sync.Mutex
	wire   *tripwire
	state  recording.State
	known  map[int]recording.Stack
	before map[string]recording.Coverage // as they were when the piece began
	cover  map[string]covered            // as they were written last
	late   map[string]float64            // in this piece, by probe, s

	failure error // why there is no piece
	failed  chan struct{}
	packing sync.WaitGroup
}

func newTape(dir string, m recording.Manifest, now func() recording.Time, round *probe.Round, note func(string)) (*tape, error) {
	t := &tape{
		dir: dir, base: m, now: now, round: round, note: note, wire: newTripwire(),
		known: map[int]recording.Stack{}, before: map[string]recording.Coverage{}, cover: map[string]covered{}, late: map[string]float64{}, failed: make(chan struct{}),
	}
	if err := t.begin(m.Start); err != nil {
		return nil, err
	}
	return t, nil
}

// Failed implements probes.Keeper. A ring pauses and goes on: it never fails for good.
func (t *tape) Failed() <-chan struct{} { return t.failed }

// begin opens a piece. The caller holds turning, or is alone.
func (t *tape) begin(start recording.Time) error {
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
func (t *tape) Sample(at recording.Time, name string, l recording.Labels, v float64) {
	if name == "snag_probe_late_seconds" {
		t.mu.Lock()
		t.late[l["probe"]] = max(t.late[l["probe"]], v)
		t.mu.Unlock()
	}
	t.turning.RLock()
	defer t.turning.RUnlock()
	if t.w != nil {
		t.w.Sample(at, name, l, v)
	}
}

// Append implements recording.Sink.
func (t *tape) Append(row recording.Row) {
	t.turning.RLock()
	defer t.turning.RUnlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state.Take(row)
	t.wire.Take(row)
	if s, ok := row.(recording.Stack); ok { // written with the first row that names it
		t.known[s.ID] = s
		return
	}
	t.write(row)
}

// write puts a row into the piece. The caller holds both locks.
func (t *tape) write(row recording.Row) {
	if t.w == nil {
		return
	}
	recording.EachStack(row, func(id int) {
		if s, known := t.known[id]; known && !t.stacks[id] {
			t.stacks[id] = true
			t.w.Append(s)
		}
	})
	if c, ok := row.(recording.Coverage); ok {
		if last := t.cover[c.Probe]; last.in == t.w && last.state == c.State+c.Why && c.Lost == last.lost && t.now().Sub(last.at) < coverEach {
			return // it is written again at the end of the piece
		}
		t.cover[c.Probe] = covered{t.w, t.now(), c.State + c.Why, c.Lost}
		row = t.ofPiece(c)
	}
	t.w.Append(row)
}

// covered is a coverage row that was written. Some probes write one a second, for a recording that is
// cut off: one in ten seconds is enough.
type covered struct {
	in    *recording.Writer
	at    recording.Time
	state string
	lost  uint64
}

const coverEach = 10 * time.Second

// ofPiece makes a coverage row, which counts from when the probes began, one of the piece.
func (t *tape) ofPiece(c recording.Coverage) recording.Coverage {
	if before, known := t.before[c.Probe]; known {
		c.Lost -= min(c.Lost, before.Lost)
		c.Cost = max(0, c.Cost-before.Cost)
		probe, _, _ := strings.Cut(c.Probe, ".")
		c.Late = min(c.Late, t.late[probe])
	}
	return c
}

// turn ends the piece and begins the next, with all that stands. An error is why there is no next.
func (t *tape) turn() error {
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
	t.state.Prune(now, pieceLength)
	t.prune(stacks)
	t.state.Rows(func(row recording.Row) bool {
		if c, ok := row.(recording.Coverage); ok {
			t.before[c.Probe] = c
		}
		t.write(row)
		return true
	})
	t.mu.Unlock()
	t.turning.Unlock()
	t.round.Begin()
	t.finish(old, name)
	return err
}

// closeCoverage writes what the piece measured, as its last rows.
func (t *tape) closeCoverage(w *recording.Writer) {
	t.state.Rows(func(row recording.Row) bool {
		if c, ok := row.(recording.Coverage); ok {
			w.Append(t.ofPiece(c))
		}
		return true
	})
}

// mostKnown stacks are kept; where there are more, those that the last two pieces did not name are
// forgotten: a row that names one later is of a stack that is not known.
const mostKnown = 8000

func (t *tape) prune(last map[int]bool) {
	if len(t.known) > mostKnown {
		maps.DeleteFunc(t.known, func(id int, _ recording.Stack) bool { return !t.earlier[id] && !last[id] })
	}
	t.earlier = last
}

// finish closes a piece and packs it, beside what goes on. One that the disk had no room for stays as
// it is until there is some (salvage).
func (t *tape) finish(w *recording.Writer, name string) {
	if w == nil {
		return
	}
	end := t.now()
	t.packing.Go(func() {
		if w.Err() != nil {
			_ = w.Close() // why is known
			return
		}
		if err := errors.Join(w.Close(), pack(t.dir, name, end)); err != nil {
			t.note(err.Error())
		}
	})
}

// why is what keeps the tape from going on.
func (t *tape) why() string {
	t.turning.RLock()
	defer t.turning.RUnlock()
	if t.w == nil {
		return t.failure.Error()
	}
	return t.w.Err().Error()
}

// noticed is who may be hurt, as of the second that is over; "" nobody.
func (t *tape) noticed() string {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wire.Tick(now)
}

// current is the folder of the piece that is written.
func (t *tape) current() string {
	t.turning.RLock()
	defer t.turning.RUnlock()
	return t.name
}

// check tells whether what is measured is written.
func (t *tape) check() bool {
	t.turning.RLock()
	w := t.w
	t.turning.RUnlock()
	return w != nil && w.Err() == nil
}

// Close implements probes.Keeper.
func (t *tape) Close() error {
	t.turning.Lock()
	w, name := t.w, t.name
	t.w = nil
	t.turning.Unlock()
	t.finish(w, name)
	t.packing.Wait()
	return nil
}

// pack makes a file of a piece's folder, and removes that.
func pack(ring, name string, end recording.Time) error {
	p, ok := parse(name)
	if !ok {
		return nil
	}
	dir := filepath.Join(ring, name)
	if !end.Wall().After(p.Start.Wall().Add(time.Millisecond)) {
		return os.RemoveAll(dir)
	}
	if err := recording.PackLines(dir, filepath.Join(ring, nameOf(p.Start, end, time.Second))); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}
