package recorder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"snag/recording"
)

// Default is where snag record keeps its ring, and where snag find looks for one.
const Default = "/var/lib/snag/ring"

// Ring is a ring that is read.
type Ring struct{ Dir string }

// NoneError tells that there is no ring.
type NoneError struct{ Dir string }

func (e *NoneError) Error() string {
	return fmt.Sprintf("no recordings in %s: snag record was not running on this host; "+
		"start it (as a service: docs/record.md), or name another ring with --ring", e.Dir)
}

// OutsideError tells that nothing was recorded in the time that was asked for.
type OutsideError struct {
	Dir         string
	From, To    recording.Time
	First, Last recording.Time
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("nothing was recorded from %s to %s; %s contains %s to %s",
		day(e.From), day(e.To), e.Dir, day(e.First), day(e.Last))
}

func day(t recording.Time) string { return t.Wall().Format("2006-01-02 15:04:05 UTC") }

// Pieces are what the ring has, by time.
func (r Ring) Pieces() ([]Piece, error) {
	entries, err := os.ReadDir(r.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NoneError{r.Dir}
	}
	if err != nil {
		return nil, fmt.Errorf("read the ring: %w", err)
	}
	var out []Piece
	for _, e := range entries {
		p, ok := parse(e.Name())
		if !ok || p.Open != e.IsDir() {
			continue
		}
		if info, err := e.Info(); err == nil {
			p.Size = info.Size()
		}
		if p.Open {
			p.Size, p.End = folderSize(filepath.Join(r.Dir, p.Name)), recording.Time(time.Now().UnixNano())
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Piece) int {
		if d := a.Start - b.Start; d != 0 {
			return int(min(max(d, -1), 1))
		}
		return int(min(max(a.Step-b.Step, -1), 1))
	})
	return out, nil
}

func folderSize(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what is gone meanwhile has no size
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}

// before is how far back a recording of some time needs what came before it: each socket has a row at
// the beginning of a piece.
const (
	before = pieceLength + 15*time.Second
	after  = 2 * time.Second // what is counted in a second is written in the next
)

// Read is what the ring has of a time, as one recording. Pieces that can't be read are left out and
// named in its Damage.
func (r Ring) Read(from, to recording.Time) (*recording.Recording, error) {
	all, err := r.Pieces()
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, &NoneError{r.Dir}
	}
	var parts []*recording.Recording
	var damage []string
	covered := false
	for _, p := range reaching(all, from.Add(-before), to.Add(after)) {
		one, err := recording.OpenOwn(filepath.Join(r.Dir, p.Name))
		if err != nil && errors.Is(err, fs.ErrNotExist) && p.Open { // it was closed meanwhile
			return r.Read(from, to)
		}
		if err != nil {
			damage = append(damage, err.Error())
			continue
		}
		if p.Open {
			one.Damage = nil // that it has no end is no damage
		}
		covered = covered || one.Manifest.Start <= to && one.Manifest.End >= from
		parts = append(parts, one)
	}
	if !covered {
		return nil, errors.Join(&OutsideError{r.Dir, from, to, all[0].Start, all[len(all)-1].End}, damaged(damage))
	}
	whole, err := recording.Concat(parts)
	if err != nil {
		return nil, err
	}
	whole.Damage = append(whole.Damage, damage...)
	return whole.Cut(from, to), nil
}

func damaged(texts []string) error {
	var errs []error
	for _, t := range texts {
		errs = append(errs, errors.New(t))
	}
	return errors.Join(errs...)
}

// reaching are the pieces that have something of a time.
func reaching(all []Piece, from, to recording.Time) []Piece {
	var out []Piece
	for _, p := range all {
		if p.Start <= to && p.End >= from {
			out = append(out, p)
		}
	}
	return out
}
