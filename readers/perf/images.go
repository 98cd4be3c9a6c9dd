package perf

import (
	"slices"
	"sort"

	"snag/readers/perf/perfdata"
)

// Bounds of what is known of processes.
const (
	mostImages    = 32768
	mostMaps      = 4096    // of one
	mostMapped    = 1 << 18 // of all processes
	mostPaths     = 8 << 20 // bytes of different ones
	mostAddresses = 1 << 16 // whose frames are remembered, of all
)

// image is what one process maps to execute. A child shares its parent's list until
// one of them maps anew.
type image struct {
	maps   []perfdata.Map   // by address, none over another
	frames map[uint64]int32 // by address
}

// find is the mapping that an address lies in.
func (i *image) find(addr uint64) (perfdata.Map, bool) { return findMap(i.maps, addr) }

func findMap(maps []perfdata.Map, addr uint64) (perfdata.Map, bool) {
	n := sort.Search(len(maps), func(n int) bool { return maps[n].Start > addr }) - 1
	if n < 0 || addr-maps[n].Start >= maps[n].Size {
		return perfdata.Map{}, false
	}
	return maps[n], true
}

// put adds a mapping, and takes away what it lies over.
func put(maps []perfdata.Map, m perfdata.Map) []perfdata.Map {
	if m.Size == 0 || m.Start+m.Size < m.Start {
		return maps
	}
	out := make([]perfdata.Map, 0, len(maps)+2)
	end := m.Start + m.Size
	for _, old := range maps {
		oldEnd := old.Start + old.Size
		if oldEnd <= m.Start || old.Start >= end {
			out = append(out, old)
			continue
		}
		if old.Start < m.Start {
			left := old
			left.Size = m.Start - old.Start
			out = append(out, left)
		}
		if oldEnd > end {
			right := old
			right.Start, right.Size, right.Offset = end, oldEnd-end, old.Offset+end-old.Start
			out = append(out, right)
		}
	}
	if len(out) >= mostMaps {
		return out
	}
	at, _ := slices.BinarySearchFunc(out, m.Start, func(a perfdata.Map, start uint64) int {
		switch {
		case a.Start < start:
			return -1
		case a.Start > start:
			return 1
		}
		return 0
	})
	return slices.Insert(out, at, m)
}
