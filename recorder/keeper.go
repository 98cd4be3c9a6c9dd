package recorder

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"snag/recording"
)

// keeper keeps a ring within its limits.
type keeper struct {
	ring   Ring
	limits Limits
	note   func(string)
	thin   func(pieces []string, step time.Duration) error // Ring.Thin, or a process that does it

	thinning sync.WaitGroup
	busy     atomic.Bool // old pieces are being downsampled
	told     string      // last error reported

	size   int64 // of all pieces at the last look, bytes
	oldest time.Time
}

func newKeeper(r Ring, l Limits, note func(string)) *keeper {
	return &keeper{ring: r, limits: l, note: note, thin: r.Thin}
}

// look deletes pieces beyond the limits and has the next group of old ones downsampled, which it does not wait for.
func (k *keeper) look() {
	err := k.tidy()
	if err != nil && err.Error() != k.told {
		k.note(err.Error())
	}
	k.told = ""
	if err != nil {
		k.told = err.Error()
	}
}

func (k *keeper) tidy() error {
	all, err := k.ring.Pieces()
	if err != nil {
		return err
	}
	k.size = 0
	for i, p := range all {
		if k.size += p.Size; i == 0 {
			k.oldest = p.Start.Wall()
		}
	}
	if k.busy.Load() {
		return nil // what it reads must stay
	}
	gone, m := due(all, recording.Time(time.Now().UnixNano()), k.limits)
	var errs []error
	for _, p := range gone {
		errs = append(errs, os.Remove(filepath.Join(k.ring.Dir, p.Name)))
	}
	if len(m.pieces) > 0 {
		k.busy.Store(true)
		k.thinning.Go(func() {
			defer k.busy.Store(false)
			if err := k.thin(m.names(), m.step); err != nil {
				k.note(err.Error())
			}
		})
	}
	return errors.Join(errs...)
}
