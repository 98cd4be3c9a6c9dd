package episode

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var lengths = []int{8, 15, 30, 60, 120, 180}

func TestDev(t *testing.T) {
	const times = 200
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			var line strings.Builder
			for _, b := range []int{8, 30, 120} {
				for _, a := range lengths {
					r := rand.New(rand.NewPCG(1021, uint64(1000*b+a)))
					got := map[Outcome]int{}
					for range times {
						x, y, gap := w.pair(r, b, a)
						got[Decide(x, y, Around{Gap: float64(gap)}).Outcome]++
					}
					fmt.Fprintf(&line, "%3.0f/%-3.0f", 100*float64(got[Gone])/times, 100*float64(got[Reduced])/times)
				}
				line.WriteString(" | ")
			}
			if w.period > 0 {
				for _, b := range []int{30, int(3 * w.period), int(6 * w.period)} {
					r := rand.New(rand.NewPCG(1022, uint64(b)))
					gone, need := 0, 0.0
					for range times {
						x, _, _ := w.pair(r, b, 5)
						d := Decide(x, make([]float64, int(3*w.period)), Around{Gap: 10})
						if d.Outcome == Gone {
							gone++
						}
						need += In(x).Need(0) / times
					}
					fmt.Fprintf(&line, " %3.0f(%4.1fP)", 100*float64(gone)/times, need/w.period)
				}
			}
			fmt.Printf("%-26s %s\n", w.name, line.String())
		})
	}
}
