package recorder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/private"
	"snag/probes"
	"snag/probes/probe"
	"snag/recording"
)

// Plan is what to keep, and where.
type Plan struct {
	Dir    string
	Limits Limits
	Snag   string // version
	Target recording.Target
	// Memory ends the recorder where it takes more than so much of it, bytes; 0: no bound.
	Memory int64
	Note   func(text string) // of what the operator should know: a line of the journal
	// Judge judges what was recorded when somebody may be hurt; nil: nothing is judged. Report is told
	// when an incident begins and ends.
	Judge  Judge
	Report func(i Incident, what string)
	// Between is called where much memory is free that is not needed any more.
	Between func()

	piece, again time.Duration // pieceLength, tryAgain
}

const (
	century  = 100 * 365 * 24 * time.Hour
	stepped  = 100 * time.Millisecond // of the wall clock against the monotonic one: the pieces' times are wrong from then on
	tryAgain = 10 * time.Second       // on a disk that was full
)

// errAnew has the probes begin again with the clocks as they are now.
var errAnew = errors.New("the clock was set")

// Run records until ctx ends, or until it takes too much memory.
func Run(ctx context.Context, p Plan) error {
	if p.piece == 0 {
		p.piece, p.again = pieceLength, tryAgain
	}
	if p.Between == nil {
		p.Between = func() {}
	}
	if p.Report == nil {
		p.Report = func(Incident, string) {}
	}
	lock, err := hold(p.Dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := salvage(p.Dir, ""); err != nil {
		p.Note(err.Error())
	}
	k := &keeper{ring: Ring{p.Dir}, limits: Limits{p.Limits.Keep, p.Limits.Size - p.Limits.Size/incidentsPart}, note: p.Note}
	k.look()
	for {
		err := p.session(ctx, k)
		switch {
		case errors.Is(err, errAnew):
			p.Note("the wall clock was set or the machine was suspended; recording continues with the new time")
		default:
			return err
		}
	}
}

// session records for as long as the clocks go on as they began.
func (p Plan) session(ctx context.Context, k *keeper) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	round := &probe.Round{}
	done := make(chan struct{})
	var t *tape
	plan := probes.Plan{
		For: century, Always: true, Target: p.Target, Snag: p.Snag, Round: round, Notice: func(string) {}, Between: p.Between,
		Into: func(m recording.Manifest, now func() recording.Time) (probes.Keeper, error) {
			var err error
			if t, err = newTape(p.Dir, m, now, round, p.Note); err != nil {
				return nil, err
			}
			go func() {
				defer close(done)
				p.tend(inner, cancel, t, k, m.Anchor)
			}()
			return t, nil
		},
	}
	err := probes.Record(inner, plan)
	cancel(nil)
	if t != nil {
		<-done
	}
	if cause := context.Cause(inner); cause != nil && ctx.Err() == nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// tend turns the tape and looks after the ring, once a second.
func (p Plan) tend(ctx context.Context, stop context.CancelCauseFunc, t *tape, k *keeper, a recording.Anchor) {
	next := time.Now().Add(p.piece)
	paused := time.Time{}
	g := newGuard(p)
	defer g.close()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		if paused.IsZero() {
			g.second(ctx, t.now(), t.noticed())
		}
		switch {
		case drift(a).Abs() >= stepped:
			stop(errAnew)
			return
		case p.Memory > 0 && resident() > p.Memory:
			stop(fmt.Errorf("snag record needs %d MB of memory, more than --memory allows; it exits, recordings are kept", resident()>>20))
			return
		case !t.check():
			if paused.IsZero() {
				p.Note("recording is paused until there is space: " + t.why())
				paused = now
			}
			if now.Sub(paused) >= p.again {
				paused = now
				k.look()
				if t.turn() == nil {
					p.Note("recording continues")
					paused, next = time.Time{}, now.Add(p.piece)
					if err := salvage(p.Dir, t.current()); err != nil {
						p.Note(err.Error())
					}
				}
			}
		case now.After(next):
			_ = t.turn() // that there is no next piece is seen in a second
			next = now.Add(p.piece)
			if k.look() {
				p.Between()
			}
		}
	}
}

// drift is how far the wall clock has moved against the monotonic one since the anchor.
func drift(a recording.Anchor) time.Duration {
	now := probe.NewAnchor()
	return time.Duration((now.Wall - a.Wall) - (now.Monotonic - a.Monotonic))
}

// resident is the memory of this process, bytes; 0 unknown.
func resident() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(b), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// hold makes the ring's folder, and takes it for this process.
func hold(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, private.FolderMode()); err != nil {
		return nil, fmt.Errorf("record to %s: %w: give a folder that can be written (--ring)", dir, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "recorder.lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, private.FileMode())
	if err != nil {
		return nil, fmt.Errorf("record to %s: %w: give a folder that can be written (--ring)", dir, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("record to %s: another snag record is writing there; stop it or give another folder (--ring)", dir)
	}
	return f, nil
}

// salvage packs what a recorder that was killed, or had no room, left open; but not the piece that is
// being written.
func salvage(dir, current string) error {
	all, err := Ring{dir}.Pieces()
	if err != nil {
		return err
	}
	var errs []error
	for _, p := range all {
		if !p.Open || p.Name == current {
			continue
		}
		folder := filepath.Join(dir, p.Name)
		r, err := recording.OpenOwn(folder)
		if err == nil && r.Manifest.End > r.Manifest.Start {
			err = pack(dir, p.Name, r.Manifest.End)
		} else { // nothing was written yet
			err = os.RemoveAll(folder)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
