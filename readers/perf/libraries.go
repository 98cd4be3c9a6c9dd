package perf

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"snag/recording"
)

// Of so many processes, those that ran most, the files are written; of each so many.
const (
	mostPrograms = 64
	mostFiles    = 256
)

// libraries writes which builds of which files the processes that ran most had mapped.
func (d *data) libraries(at recording.Time) recording.Coverage {
	c := recording.Coverage{Probe: "host.libraries", State: recording.CoveragePartial, Since: at}
	pids := slices.SortedFunc(maps.Keys(d.ran), func(a, b int) int { return cmp.Or(cmp.Compare(d.ran[b], d.ran[a]), cmp.Compare(a, b)) })
	told, without := 0, 0
	for _, pid := range pids[:min(len(pids), mostPrograms)] {
		i := d.images[pid]
		if i == nil || pid == 0 {
			continue
		}
		seen := map[string]bool{}
		for _, m := range i.maps {
			if !strings.HasPrefix(m.Path, "/") || strings.HasPrefix(m.Path, "//") || seen[m.Path] || len(seen) >= mostFiles {
				continue
			}
			seen[m.Path] = true
			id := cmp.Or(m.BuildID, d.objects.ids[m.Path])
			if id == "" {
				without++
				continue
			}
			path, deleted := strings.CutSuffix(m.Path, " (deleted)")
			d.out.Append(recording.Library{T: at, PID: pid, Comm: d.names[d.comms[pid]], Path: path, BuildID: id, Deleted: deleted})
			told++
		}
	}
	if told == 0 {
		c.State, c.Why, c.Cure = recording.CoverageUnavailable, "the file has no build ids", "perf record --buildid-mmap, or a perf.data that is not packed and was ended well"
		return c
	}
	partial(&c, "those of the %d processes that ran most, as far as perf noted their build ids (%d files are without)", min(len(pids), mostPrograms), without)
	return c
}
