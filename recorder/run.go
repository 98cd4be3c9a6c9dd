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
	"snag/recorder/rule"
	"snag/recording"
)

// Plan configures a recorder.
type Plan struct {
	Dir    string
	Limits Limits
	Snag   string // version
	Target recording.Target
	// OwnNetns: only what is of the network namespace that it runs in is recorded.
	OwnNetns bool
	// Memory is the resident size in bytes above which the recorder exits; 0: no limit.
	Memory int64
	Note   func(text string) // writes a line to the journal
	// Judge is called when clients or streams may be affected; nil: only record. Report is called when
	// an incident begins and when it ends.
	Judge  Judge
	Look   Look // nil: no closer look
	Report func(i Incident, what string)
	Health *Health // nil: not published
	// Rules start a judgement too, and what it says is kept whether or not clients are affected.
	Rules []*rule.Rule
	// Streams reads live streams in place of the probe of its name (streams.Kept); nil: none.
	Streams *probe.Probe
	// Also gets every sample and row, beside the ring; nil: nobody. It must not wait.
	Also recording.Sink
	// Between is called when memory can be returned to the system: after the start, and when a piece has been
	// packed.
	Between func()
	// Thin is Ring.Thin in a process of its own; nil: in this one.
	Thin func(ring string, pieces []string, step time.Duration) error

	piece, again time.Duration // pieceLength, tryAgain
	silent       time.Duration // pieceLength; tests have shorter pieces, and probes that look every 15 s
	clock        func(recording.Anchor) moved
}

const (
	century  = 100 * 365 * 24 * time.Hour
	tryAgain = 10 * time.Second // while the disk is full
)

// Run records until ctx ends or the memory limit is exceeded.
func Run(ctx context.Context, p Plan) error {
	if p.piece == 0 {
		p.piece, p.again = pieceLength, tryAgain
	}
	if p.silent == 0 {
		p.silent = pieceLength
	}
	if p.clock == nil {
		p.clock = movedSince
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
	err = errors.Join(salvage(p.Dir, ""), recording.Remove(filepath.Join(p.Dir, lookDir)))
	if err != nil {
		p.Note(err.Error())
	}
	k := newKeeper(Ring{p.Dir}, Limits{p.Limits.Keep, p.Limits.Size - p.Limits.Size/incidentsPart}, p.Note)
	if p.Thin != nil {
		k.thin = func(pieces []string, step time.Duration) error { return p.Thin(p.Dir, pieces, step) }
	}
	defer k.thinning.Wait()
	k.look()
	p.Health.set(func(f *Status) { f.Started = time.Now() })
	for {
		err := p.session(ctx, k)
		var m moved
		if !errors.As(err, &m) {
			return err
		}
		p.Note(m.Error() + "; recording continues with the new time")
	}
}

// session records until ctx ends or the clock is set.
func (p Plan) session(ctx context.Context, k *keeper) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	round := &probe.Rotation{}
	done := make(chan struct{})
	var t *pieceWriter
	plan := probes.Plan{
		For: century, Continuous: true, Target: p.Target, OwnNetns: p.OwnNetns, Snag: p.Snag, Round: round, Notice: func(string) {}, Between: p.Between, Reading: p.Streams,
		Into: func(m recording.Manifest, now func() recording.Time) (probes.Keeper, error) {
			var err error
			if t, err = newWriter(p.Dir, m, now, round, p.Note); err != nil {
				return nil, err
			}
			for _, r := range p.Rules {
				r.Reset() // the clock may have been set back
			}
			t.rules, t.packed, t.silent, t.also = p.Rules, p.Between, p.silent, p.Also
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

// tend runs once a second: it rotates pieces, checks limits and runs the monitor.
func (p Plan) tend(ctx context.Context, stop context.CancelCauseFunc, t *pieceWriter, k *keeper, a recording.Anchor) {
	next := time.Now().Add(p.piece)
	paused := time.Time{}
	g := newMonitor(p)
	defer g.close()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if m := p.clock(a); m.far() {
			stop(m)
			g.end(t.now())
			return
		}
		now := time.Now()
		p.Health.set(func(f *Status) { f.Recording = paused.IsZero() })
		if paused.IsZero() {
			g.second(ctx, t.now(), t.noticed())
		}
		switch {
		case p.Memory > 0 && resident() > p.Memory:
			stop(fmt.Errorf("snag record needs %d MB of memory, more than --memory allows; it exits, recordings are kept", resident()>>20))
			return
		case !t.check():
			if paused.IsZero() {
				p.Note("recording is paused until " + t.why())
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
			_ = t.turn() // a failure is handled in the next second
			next = now.Add(p.piece)
			k.look()
			probes := t.measures()
			p.Health.set(func(f *Status) { f.Probes, f.Size, f.Oldest = probes, k.size, k.oldest })
		}
	}
}

// resident is the resident set size of this process, bytes; 0: unknown.
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

// hold creates and locks the ring's folder.
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

// salvage packs pieces that a killed recorder or a full disk left open, except the current one.
func salvage(dir, current string) error {
	all, err := Ring{dir}.list()
	if err != nil {
		return err
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"+packedMark))
	errs := []error{err}
	for _, folder := range left {
		errs = append(errs, os.RemoveAll(folder))
	}
	packed := packedStarts(all)
	for _, p := range all {
		if !p.Open || p.Name == current {
			continue
		}
		folder := filepath.Join(dir, p.Name)
		if packed[p.Start] { // the recorder was killed before it removed it
			errs = append(errs, removeOpen(folder))
			continue
		}
		r, err := recording.OpenOwn(folder)
		switch {
		case errors.As(err, new(*recording.VersionError)): // a later snag's, which packs it when it is back
		case err == nil && r.Manifest.End > r.Manifest.Start:
			err = pack(dir, p.Name, r.Manifest.End)
		default: // it is empty
			err = removeOpen(folder)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
