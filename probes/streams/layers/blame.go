package layers

import (
	"fmt"
	"slices"

	"snag/internal/sorting"
	"snag/probes/streams/figures"
	"snag/recording"
)

// Hurt is one thing that befell the stream at one place.
type Hurt struct {
	At         int    // place, in the order of the layers
	Kind       string // recording.EventStream…
	Start, End int64  // monotonic clock, ns; End 0: it still goes on
	ID         uint64 // of the place's Meter: of several with one ID the last counts
	Doubt      bool   // the observer's own lateness explains it
}

// HurtBy is what an event of a place's Meter means here, begun or over: nothing
// for what hurts nobody, or only goes on.
func HurtBy(at int, e figures.Event) (Hurt, bool) {
	switch e.Kind {
	case recording.EventStreamFreeze, recording.EventStreamLate, recording.EventStreamSkipped,
		recording.EventStreamSlow, recording.EventStreamJump, recording.EventStreamEnded:
		return Hurt{at, e.Kind, e.Start, e.End, e.ID, e.Doubt}, e.Phase != figures.Updated
	}
	return Hurt{}, false
}

// Finding is a hurt traced back to the first place that shows it.
type Finding struct {
	Hurt           // as it was at the first place
	Places  []int  // where it is seen, the first of them first
	Missing int    // frames that the hop into the first place lost at that time
	Sure    bool   // the place before was watched then and was well, or there is none before
	Where   string // "between origin and edge", "at ingest already"
	Why     string // a sentence
}

// slack is how much later or earlier than the delay says a hurt may begin at the
// next place: thresholds, and what servers' buffers hide.
const slack = int64(1500e6)

// Judge says of each hurt where it first was. hops are those of the whole time,
// watched reports whether a place was being read without the observer being late.
func Judge(names []string, hurts []Hurt, hops []Hop, watched func(place int, from, to int64) bool) []Finding {
	hurts = lastOfEach(hurts)
	sorting.StableBy(hurts, func(a, b Hurt) int {
		if a.At != b.At {
			return a.At - b.At
		}
		return int(max(min(a.Start-b.Start, 1), -1))
	})
	var out []Finding
	for _, h := range hurts {
		if h.Doubt || h.At < 0 || h.At >= len(names) {
			continue
		}
		if i := slices.IndexFunc(out, func(f Finding) bool { return explains(f.Hurt, h, delay(names, hops, f.At, h.At, h.Start)) }); i >= 0 {
			f := &out[i]
			if !slices.Contains(f.Places, h.At) {
				f.Places = append(f.Places, h.At)
			}
			continue
		}
		out = append(out, Finding{Hurt: h, Places: []int{h.At}})
	}
	out = append(out, lost(names, hops, out)...)
	for i := range out {
		out[i].place(names, hops, watched)
	}
	sorting.StableBy(out, func(a, b Finding) int { return int(max(min(a.Start-b.Start, 1), -1)) })
	return out
}

// lastOfEach keeps of each event what was told last.
func lastOfEach(hurts []Hurt) []Hurt {
	type key struct {
		at int
		id uint64
	}
	var out []Hurt
	where := map[key]int{}
	for _, h := range hurts {
		k := key{h.At, h.ID}
		if i, ok := where[k]; ok && h.ID != 0 {
			out[i] = h
			continue
		}
		where[k] = len(out)
		out = append(out, h)
	}
	return out
}

// explains reports whether h is what f became further down, or more of the same at
// its own place: a freeze there may be lateness or skipped frames here.
func explains(f, h Hurt, delay int64) bool {
	if h.At < f.At || !related(f.Kind, h.Kind) {
		return false
	}
	if h.At == f.At && f.Kind == h.Kind && h.Kind == recording.EventStreamFreeze {
		return false // two freezes of one place are two
	}
	end := ending(f)
	if h.Kind == recording.EventStreamFreeze && f.Kind != recording.EventStreamFreeze {
		end = f.Start // a stream that is late above need not stand still below: only if it begins with it
	}
	return h.Start >= f.Start-slack && h.Start <= end+delay+slack
}

func related(a, b string) bool {
	flow := func(kind string) bool {
		return kind != recording.EventStreamJump && kind != recording.EventStreamEnded
	}
	return a == b || flow(a) && flow(b)
}

// delay is how long the stream takes from one place to another, by the hops' last
// medians before at; what is not known is none.
func delay(names []string, hops []Hop, from, to int, at int64) int64 {
	var sum int64
	for p := from; p < to; p++ {
		var d int64
		for _, h := range hops {
			if h.From == names[p] && h.To == names[p+1] && h.Delays > 0 && (h.T < at || d == 0) {
				d = h.Delay
			}
		}
		sum += max(d, 0)
	}
	return sum
}

// lost are the seconds in which a hop lost frames that no finding speaks of.
func lost(names []string, hops []Hop, known []Finding) []Finding {
	var out []Finding
	open := map[int]int{} // by place, of out
	for _, h := range hops {
		at := slices.Index(names, h.To)
		if at < 1 || h.Missing == 0 || h.Repeats {
			continue
		}
		end := h.T + int64(1e9)
		if slices.ContainsFunc(known, func(f Finding) bool {
			return f.At == at && h.T <= ending(f.Hurt)+slack*2 && end >= f.Start-slack
		}) {
			continue
		}
		if i, ok := open[at]; ok && h.T-out[i].End <= slack {
			out[i].End = end
			continue
		}
		open[at] = len(out)
		out = append(out, Finding{Hurt: Hurt{At: at, Kind: recording.EventStreamSkipped, Start: h.T, End: end}, Places: []int{at}})
	}
	return out
}

func ending(h Hurt) int64 {
	if h.End == 0 {
		return 1 << 60
	}
	return h.End
}

// place says where a finding is.
func (f *Finding) place(names []string, hops []Hop, watched func(place int, from, to int64) bool) {
	if f.At == 0 {
		f.Sure = true
		f.Where = fmt.Sprintf("at %s already", names[0])
		f.Why = fmt.Sprintf("%s is the first place and shows it: %s itself, its uplink or the encoder", names[0], names[0])
		return
	}
	from, to := names[f.At-1], names[f.At]
	f.Where = fmt.Sprintf("between %s and %s", from, to)
	for _, h := range hops {
		if h.To == to && h.T+int64(1e9) >= f.Start-slack && h.T <= min(ending(f.Hurt), 1<<59)+slack*2 {
			f.Missing += h.Missing
		}
	}
	f.Sure = watched == nil || watched(f.At-1, f.Start-slack, min(ending(f.Hurt), 1<<59))
	if !f.Sure {
		f.Why = fmt.Sprintf("%s shows it; %s was not watched then, so it may be older: can't tell", to, from)
		return
	}
	f.Why = fmt.Sprintf("%s was healthy and %s was not: %s's sending, the way between them, or %s itself", from, to, from, to)
}
