package actor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"
	"time"
)

// tally counts what an actor's traffic met and prints it as a JSON line each
// second, so that a test reads from outside what a user would have felt.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
	times  map[string][]float64 // milliseconds, of this second
}

// Line is one printed second. Counts run from the start; P50 and Max are of the
// second, in milliseconds, and lack what did not happen in it.
type Line struct {
	Count map[string]int     `json:"count"`
	P50   map[string]float64 `json:"p50_ms"`
	Max   map[string]float64 `json:"max_ms"`
}

func newTally() *tally {
	return &tally{counts: map[string]int{}, times: map[string][]float64{}}
}

func (t *tally) add(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[what]++
}

func (t *tally) took(what string, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[what]++
	t.times[what] = append(t.times[what], float64(d)/float64(time.Millisecond))
}

// turn returns the second's line and begins the next.
func (t *tally) turn() Line {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := Line{Count: map[string]int{}, P50: map[string]float64{}, Max: map[string]float64{}}
	for what, n := range t.counts {
		l.Count[what] = n
	}
	for what, all := range t.times {
		sort.Float64s(all)
		l.P50[what], l.Max[what] = all[len(all)/2], all[len(all)-1]
	}
	t.times = map[string][]float64{}
	return l
}

// report prints lines to w until the context ends.
func (t *tally) report(ctx context.Context, w io.Writer) {
	for sleep(ctx, time.Second) {
		line, err := json.Marshal(t.turn())
		if err != nil {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s\n", line); err != nil {
			return
		}
	}
}

// LastLine finds the newest second in what an actor printed.
func LastLine(printed string) (Line, bool) {
	lines := strings.Split(printed, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		var l Line
		if strings.HasPrefix(lines[i], "{") && json.Unmarshal([]byte(lines[i]), &l) == nil {
			return l, true
		}
	}
	return Line{}, false
}
