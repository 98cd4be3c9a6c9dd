package readers

import (
	"context"
	"fmt"
	"path/filepath"

	"snag/readers/logs"
	"snag/readers/reader"
)

// mostLogs of hosts that differ are held against each other for connections that both
// name.
const mostLogs = 16

// named are the ties of hosts whose logs name the same connections. It looks through the
// logs once more than they are read, as nothing can be written before times are known;
// pipes can't be.
func (h hostClocks) named(ctx context.Context, files []file) (ties []tie) {
	type looked struct {
		path, clock string
		ends        logs.Ends
	}
	var which []file
	clocks := map[string]bool{}
	for _, f := range files {
		if clock := h.of[f.in.Path]; f.format.Name == logs.Format.Name && f.in.Size > 0 && clock != "" && len(which) < mostLogs {
			which = append(which, f)
			clocks[clock] = true
		}
	}
	if len(clocks) < 2 {
		return nil
	}
	var all []looked
	for _, f := range which {
		in, err := reader.Open(f.in.Path)
		if err != nil {
			continue // reading it says why
		}
		ends, _ := logs.ReadEnds(ctx, in, f.opt) // what is torn is told when it is read
		_ = in.Close()
		if !ends.Empty() {
			all = append(all, looked{f.in.Path, h.of[f.in.Path], ends})
		}
	}
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.clock == b.clock {
				continue
			}
			if low, high, n := a.ends.Tie(b.ends); n > 0 {
				ties = append(ties, tie{a: a.clock, b: b.clock, low: low, high: high,
					by: fmt.Sprintf("%s that both %s and %s name", connections(n), filepath.Base(a.path), filepath.Base(b.path))})
			}
		}
	}
	return ties
}
