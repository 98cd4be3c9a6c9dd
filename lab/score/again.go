package score

import (
	"context"
	"fmt"
)

// Again makes those cases once more that did not come out right, so many times at
// most, and keeps what they are a retry of (Folder.Aside). It returns how many came out
// right then only. wrong says which are not right, by their keys.
func (r Runs) Again(ctx context.Context, cases []Case, times int, wrong func() (map[string]bool, error)) (flaky int, err error) {
	first, err := wrong()
	if err != nil {
		return 0, err
	}
	still := first
	for range times {
		for _, c := range cases {
			if !still[c.Key()] {
				continue
			}
			fmt.Fprintf(r.Progress, "%s: once more, to tell a noisy machine from a fault\n", c.Key())
			if err := r.Folder.Aside(c.Key()); err != nil {
				return 0, err
			}
			if err := r.One(ctx, c); err != nil {
				return 0, err
			}
		}
		if still, err = wrong(); err != nil {
			return 0, err
		}
	}
	return len(first) - len(still), nil
}
