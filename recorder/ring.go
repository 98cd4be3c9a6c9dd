package recorder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"snag/internal/sorting"
	"snag/recording"
)

// Default is the ring that snag record writes and snag find reads by default.
const Default = "/var/lib/snag/ring"

// Ring gives read access to a ring.
type Ring struct{ Dir string }

// NoneError reports that there is no ring.
type NoneError struct{ Dir string }

func (e *NoneError) Error() string {
	return fmt.Sprintf("no recordings in %s: snag record was not running on this host; "+
		"start it (as a service: docs/record.md), or name another ring with --ring", e.Dir)
}

// OutsideError reports that nothing was recorded in the requested time.
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

// Pieces returns the pieces of the ring, by time.
func (r Ring) Pieces() ([]Piece, error) {
	all, err := r.list()
	packed := packedStarts(all)
	return slices.DeleteFunc(all, func(p Piece) bool { return p.Open && packed[p.Start] }), err
}

// packedStarts are the starts of the packed pieces. An open one with such a start is about to be removed.
func packedStarts(all []Piece) map[recording.Time]bool {
	out := map[recording.Time]bool{}
	for _, p := range all {
		if !p.Open {
			out[p.Start] = true
		}
	}
	return out
}

// list returns what is in the folder of the ring, by time.
func (r Ring) list() ([]Piece, error) {
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
	sorting.By(out, func(a, b Piece) int {
		if d := a.Start - b.Start; d != 0 {
			return int(min(max(d, -1), 1))
		}
		return int(min(max(a.Step-b.Step, -1), 1))
	})
	return out, nil
}

func folderSize(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // files that disappear meanwhile count as 0
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}

// Reading a time range also needs the pieces around it: every socket has a row at the start of a piece,
// and the counts of a second are written in the next second.
const (
	before = pieceLength + 15*time.Second
	after  = 2 * time.Second
)

// wholeUpTo is the longest range that is read at full resolution. Longer ranges are downsampled while
// reading: two hours of a host with 2,000 sockets would need about 1 GB of memory.
const wholeUpTo = 15 * time.Minute

// Read returns a time range of the ring as one recording. Unreadable pieces are skipped and named in its
// Damage.
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
		file := filepath.Join(r.Dir, p.Name)
		one, err := recording.OpenOwn(file)
		if _, gone := os.Stat(file); errors.Is(gone, fs.ErrNotExist) && p.Open { // it was packed meanwhile
			return r.Read(from, to)
		}
		var begins *recording.NotRecordingError
		if p.Open && errors.As(err, &begins) { // nothing is in it yet, not even its manifest
			continue
		}
		if err != nil {
			damage = append(damage, err.Error())
			continue
		}
		if p.Open {
			one.Damage = nil // a missing end is normal here
		}
		if to.Sub(from) > wholeUpTo {
			one = downsample(one, tiers[0].step)
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

// reaching returns the pieces that overlap a time range.
func reaching(all []Piece, from, to recording.Time) []Piece {
	var out []Piece
	for _, p := range all {
		if p.Start <= to && p.End >= from {
			out = append(out, p)
		}
	}
	return out
}
