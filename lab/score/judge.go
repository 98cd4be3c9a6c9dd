package score

import (
	"errors"
	"fmt"
	"io/fs"

	"snag/lab"
	"snag/recording"
)

// Judge gives an answer to a recording.
type Judge struct {
	Name string
	// Confident: its answers carry a confidence.
	Confident bool
	Answer    func(*recording.Recording) (lab.Answer, error)
}

// Evaluate lets judges answer to the kept recordings of the cases, and gives a
// sheet of each, and how many of the cases were never run.
func Evaluate(f Folder, cases []Case, judges []Judge) (sheets []Sheet, missing int, err error) {
	marks := make([][]Mark, len(judges))
	for _, c := range cases {
		k, r, err := f.Load(c.Key())
		if errors.Is(err, fs.ErrNotExist) {
			missing++
			continue
		}
		if err != nil {
			return nil, 0, fmt.Errorf("score %s: %w", c.Key(), err)
		}
		for i, j := range judges {
			m, err := markOne(c, k, r, j)
			if err != nil {
				return nil, 0, fmt.Errorf("score %s by %s: %w", c.Key(), j.Name, err)
			}
			marks[i] = append(marks[i], m)
		}
	}
	for i, j := range judges {
		sheets = append(sheets, Sum(j.Name, marks[i], j.Confident))
	}
	return sheets, missing, nil
}

func markOne(c Case, k Kept, r *recording.Recording, j Judge) (Mark, error) {
	if r == nil {
		return Failed(c, k.Error), nil
	}
	a, err := j.Answer(r)
	if err != nil {
		return Mark{}, err
	}
	if here := k.Here(); here != nil {
		a.DropAllElsewhere(here)
	}
	a.DropStolen(k.Stolen, c.Wants())
	m, err := MarkOf(c, a)
	if !j.Confident {
		m.Claims = nil
	}
	m.Seconds = k.FindSeconds
	return m, err
}
