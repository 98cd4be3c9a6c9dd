package recorder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"snag/recording"
)

func (m merge) names() (out []string) {
	for _, p := range m.pieces {
		out = append(out, p.Name)
	}
	return out
}

// Thin replaces pieces, which follow each other, by one that is downsampled to a step. It takes more memory
// than a recorder may: that of a whole piece, and of the best compression.
func (r Ring) Thin(pieces []string, step time.Duration) error {
	var all []Piece
	var parts []*recording.Recording
	for _, name := range pieces {
		p, ok := parse(name)
		if !ok || p.Open || filepath.Base(name) != name {
			return fmt.Errorf("downsample old pieces: %s is not the name of a piece", name)
		}
		one, err := recording.OpenOwn(filepath.Join(r.Dir, name))
		if err != nil {
			return errors.Join(fmt.Errorf("downsample old pieces: %w: it is deleted", err), os.Remove(filepath.Join(r.Dir, name)))
		}
		all, parts = append(all, p), append(parts, downsample(one, step))
	}
	whole, err := recording.Concat(parts)
	if err != nil {
		return err
	}
	whole = downsample(whole, step)
	if err := whole.PackTo(filepath.Join(r.Dir, nameOf(all[0].Start, all[len(all)-1].End, step))); err != nil {
		return fmt.Errorf("downsample old pieces: %w", err)
	}
	var errs []error
	for _, p := range all {
		errs = append(errs, os.Remove(filepath.Join(r.Dir, p.Name)))
	}
	return errors.Join(errs...)
}
