package page

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"snag/internal/calls"
	"snag/recording"
)

// callColumns are the plots of what a process did on its descriptors, in the order in
// which they tell the story: where it waited, and what moved.
var callColumns = []string{"calls.write_time", "calls.read_time", "calls.write_bytes", "calls.read_bytes"}

// mostSeconds, more than a day, are drawn.
const mostSeconds = 100_000

// callLines draws them, a line for each descriptor that carried most.
func (b *builder) callLines(s selector) []Line {
	kind := calls.Reads
	if strings.HasPrefix(s.name, "calls.write") {
		kind = calls.Writes
	}
	bytes := strings.HasSuffix(s.name, "_bytes")
	what := b.descriptors()
	sums, began, ended := map[int]map[int64]float64{}, int64(1<<62), int64(0)
	for i := range b.r.Calls {
		row := &b.r.Calls[i]
		if row.PID != s.pid() || row.FD < 0 || calls.Of(row.Call)&kind == 0 {
			continue
		}
		second := int64(row.T) / 1e9
		began, ended = min(began, second), max(ended, second)
		if sums[row.FD] == nil {
			sums[row.FD] = map[int64]float64{}
		}
		switch {
		case !bytes:
			sums[row.FD][second] += row.Sum
		case row.Done != nil:
			sums[row.FD][second] += float64(*row.Done)
		}
	}
	var out []Line
	for fd, by := range sums {
		line := Line{Label: strings.TrimSpace(fmt.Sprintf("%d %s", fd, what[[2]int{s.pid(), fd}]))}
		for at := began; at <= ended && at-began < mostSeconds; at++ { // a second without a call is one with nothing
			line.T, line.V = append(line.T, b.since(recording.Time(at*1e9))), append(line.V, round(by[at]))
		}
		out = append(out, line)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Label < out[j].Label })
	return out
}

// mostCalls are the plots of the process that spent most time in calls on descriptors;
// none where calls were not counted.
func (b *builder) mostCalls() []wish {
	times := map[int]float64{}
	best := 0
	for i := range b.r.Calls {
		row := &b.r.Calls[i]
		if row.PID != 0 && row.FD >= 0 && calls.Of(row.Call)&(calls.Reads|calls.Writes) != 0 {
			times[row.PID] += row.Sum
			if times[row.PID] > times[best] || best == 0 {
				best = row.PID
			}
		}
	}
	if best == 0 {
		return nil
	}
	return ownCalls(best, fmt.Sprintf("process %d", best))
}

func ownCalls(pid int, about string) []wish {
	var out []wish
	for _, c := range callColumns {
		out = append(out, wish{selectorOf(c, recording.Labels{"pid": strconv.Itoa(pid)}), about, false})
	}
	return out
}
