package recorder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"snag/recording"
)

// keeper keeps a ring within its limits.
type keeper struct {
	ring   Ring
	limits Limits
	note   func(string)
	told   string // last error reported

	size   int64 // of all pieces at the last look, bytes
	oldest time.Time
}

// look deletes pieces beyond the limits and downsamples the next group of old ones. It returns whether
// it downsampled.
func (k *keeper) look() bool {
	downsampled, err := k.tidy()
	if err != nil && err.Error() != k.told {
		k.note(err.Error())
	}
	k.told = ""
	if err != nil {
		k.told = err.Error()
	}
	return downsampled
}

func (k *keeper) tidy() (downsampled bool, err error) {
	all, err := k.ring.Pieces()
	if err != nil {
		return false, err
	}
	k.size = 0
	for i, p := range all {
		if k.size += p.Size; i == 0 {
			k.oldest = p.Start.Wall()
		}
	}
	gone, m := due(all, recording.Time(time.Now().UnixNano()), k.limits)
	var errs []error
	for _, p := range gone {
		errs = append(errs, os.Remove(filepath.Join(k.ring.Dir, p.Name)))
	}
	if len(m.pieces) > 0 {
		errs = append(errs, k.replace(m))
	}
	return len(m.pieces) > 0, errors.Join(errs...)
}

// replace replaces pieces by one downsampled piece.
func (k *keeper) replace(m merge) error {
	var parts []*recording.Recording
	for _, p := range m.pieces {
		r, err := recording.OpenOwn(filepath.Join(k.ring.Dir, p.Name))
		if err != nil {
			return errors.Join(fmt.Errorf("downsample old pieces: %w: it is deleted", err), os.Remove(filepath.Join(k.ring.Dir, p.Name)))
		}
		parts = append(parts, downsample(r, m.step))
	}
	whole, err := recording.Concat(parts)
	if err != nil {
		return err
	}
	whole = downsample(whole, m.step)
	first, last := m.pieces[0], m.pieces[len(m.pieces)-1]
	if err := whole.PackTo(filepath.Join(k.ring.Dir, nameOf(first.Start, last.End, m.step))); err != nil {
		return fmt.Errorf("downsample old pieces: %w", err)
	}
	var errs []error
	for _, p := range m.pieces {
		errs = append(errs, os.Remove(filepath.Join(k.ring.Dir, p.Name)))
	}
	return errors.Join(errs...)
}
