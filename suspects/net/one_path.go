package net

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"snag/internal/sorting"
	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/suspect"
)

// onPaths are findings on single connections, by path: namespace, host, host; or by who waits for
// which end. One path is one cause.
type onPaths map[[3]string][]suspect.Finding

func (o onPaths) add(f *flow, found suspect.Finding) {
	path := [3]string{strconv.FormatUint(f.netns, 10), recording.Host(f.local), recording.Host(f.remote)}
	o[path] = append(o[path], found)
}

// of keeps a finding on a connection of a process to one remote end.
func (o onPaths) of(k *scene.Socket, remote string, found suspect.Finding) {
	end := [3]string{strconv.FormatUint(k.First().Netns, 10), strconv.Itoa(k.Owner().Subject.PID), remote}
	o[end] = append(o[end], found)
}

// worst is of each path the connection that was harmed most, for all of them.
func (o onPaths) worst() (out []suspect.Finding) {
	for _, path := range sorting.Collect(maps.Keys(o), func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }) {
		out = append(out, worstOf(o[path]))
	}
	return out
}

func worstOf(all []suspect.Finding) suspect.Finding {
	worst := 0
	for i, f := range all {
		if f.Harm.Amount > all[worst].Harm.Amount {
			worst = i
		}
	}
	out := all[worst]
	for i, f := range all {
		if i == worst {
			continue
		}
		out.Active = append(out.Active, f.Active...)
		if len(out.Related) < measure.MostRelated {
			out.Related = append(out.Related, append(f.Related, f.Subject)...)
		}
	}
	if len(all) > 1 {
		out.Active = intervals.Merge(out.Active, measure.Joined)
		out.Text += fmt.Sprintf(" (and on %s between them)", units.Plural(len(all)-1, "more connection"))
	}
	return out
}
