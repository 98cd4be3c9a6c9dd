package recorder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"snag/recording"
)

// keeper holds a ring within its limits.
type keeper struct {
	ring   Ring
	limits Limits
	note   func(string)
	told   string // the last error
}

// look removes what is too old or too much, and makes the next old pieces thinner; it tells whether
// it did that.
func (k *keeper) look() bool {
	thinner, err := k.tidy()
	if err != nil && err.Error() != k.told {
		k.note(err.Error())
	}
	k.told = ""
	if err != nil {
		k.told = err.Error()
	}
	return thinner
}

func (k *keeper) tidy() (thinner bool, err error) {
	all, err := k.ring.Pieces()
	if err != nil {
		return false, err
	}
	gone, m := due(all, recording.Time(time.Now().UnixNano()), k.limits)
	var errs []error
	for _, p := range gone {
		errs = append(errs, os.Remove(filepath.Join(k.ring.Dir, p.Name)))
	}
	if len(m.pieces) > 0 {
		errs = append(errs, k.thin(m))
	}
	return len(m.pieces) > 0, errors.Join(errs...)
}

// thin puts one thinner piece in the place of some.
func (k *keeper) thin(m merge) error {
	var parts []*recording.Recording
	for _, p := range m.pieces {
		r, err := recording.OpenOwn(filepath.Join(k.ring.Dir, p.Name))
		if err != nil {
			return errors.Join(fmt.Errorf("make old pieces thinner: %w: it is removed", err), os.Remove(filepath.Join(k.ring.Dir, p.Name)))
		}
		parts = append(parts, thin(r, m.step))
	}
	whole, err := recording.Concat(parts)
	if err != nil {
		return err
	}
	whole = thin(whole, m.step)
	first, last := m.pieces[0], m.pieces[len(m.pieces)-1]
	if err := whole.PackTo(filepath.Join(k.ring.Dir, nameOf(first.Start, last.End, m.step))); err != nil {
		return fmt.Errorf("make old pieces thinner: %w", err)
	}
	var errs []error
	for _, p := range m.pieces {
		errs = append(errs, os.Remove(filepath.Join(k.ring.Dir, p.Name)))
	}
	return errors.Join(errs...)
}
