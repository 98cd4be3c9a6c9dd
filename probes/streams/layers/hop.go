package layers

import (
	"slices"

	"snag/recording"
)

// Hop is how the stream fared between two neighbours in the second that ended.
type Hop struct {
	T        int64 // monotonic clock, ns: where the second begins
	From, To string
	How      How
	Repeats  bool  // the pictures repeat: delay and rebase may be off by whole loops
	Matched  int   // video frames of From that came out of To
	Missing  int   // that did not, while later ones did
	Added    int   // frames of To that From never had
	Delays   int   // how many frames Delay is of; 0: it is not known
	Delay    int64 // ns, the median of arrival at To less arrival at From
	Longest  int64 // ns
	Rebased  int64 // ns, DTS at To less DTS at From
}

// Row is a recording's row of a hop of the stream called name. There is none while
// nothing could be compared.
func (h Hop) Row(name string, anchor recording.Anchor) (recording.StreamHop, bool) {
	row := recording.StreamHop{
		T: anchor.FromMonotonic(h.T), Name: name, From: h.From, To: h.To,
		Matched: h.Matched, Missing: h.Missing, Added: h.Added,
		Delay: float64(h.Delay) / 1e9, Longest: float64(h.Longest) / 1e9, Rebased: float64(h.Rebased) / 1e9,
	}
	return row, h.How == Same || h.How == Remuxed || h.How == Pattern
}

// hop joins two neighbours.
type hop struct {
	a, b *place
	how  How
	// Frames from these on have not been looked at.
	na, nb         uint64
	epochA, epochB uint16
	rebase         int64 // DTS of b less DTS of a; follows
	repeat         bool
	stray          int // frames of b in a row that were not found
	searched       int // seconds of looking for a lock
	ticks          int
	floorA, floorB uint64

	delays [256]int64
	n      int
}

const (
	retry       = 10 // seconds between searches where there is no match: they cost a millisecond or two
	strayFrames = 60 // so many in a row that are not found: it is not the same stream any more
	enough      = 100
	giveUp      = 12 // seconds of looking, with runs on both sides, until it is said that there is no match
	// Frames that came within this of a place's first are its cached GOP's: their
	// delay is not the hop's.
	settling = int64(3e9)
)

func (h *hop) tick() Hop {
	out := Hop{}
	h.n = 0
	if h.how == Searching || h.how == Unmatched && h.searched%retry == 0 {
		h.search()
	} else if h.how == Unmatched {
		h.searched++
	}
	if h.how != Searching && h.how != Unmatched {
		h.match(&out)
		h.lookForRepeats()
	}
	out.How, out.Repeats, out.Rebased = h.how, h.repeat, h.rebase
	if h.n > 0 {
		d := h.delays[:min(h.n, len(h.delays))]
		slices.Sort(d)
		out.Delay, out.Delays = d[len(d)/2], len(d)
	}
	return out
}

// search tries to lock the two together.
func (h *hop) search() {
	f := find(h.a, h.b, h.floorA, h.floorB, h.searched)
	if !f.ok {
		// Told only where both had enough to be found by.
		if h.a.next >= h.floorA+enough && h.b.next >= h.floorB+enough {
			h.searched++
		}
		if h.searched >= giveUp {
			h.how = Unmatched
		}
		return
	}
	a, b := h.a.at(f.a), h.b.at(f.b)
	h.how, h.repeat, h.searched, h.stray = f.how, f.repeat, 0, 0
	h.rebase, h.epochA, h.epochB = b.dts-a.dts, a.epoch, b.epoch
	// Back to where both have frames: what was lost before the lock counts too.
	h.na, h.nb = f.a, f.b
	for h.na > max(h.floorA, h.a.oldest()) && h.a.at(h.na-1).epoch == h.epochA {
		h.na--
	}
	for h.nb > max(h.floorB, h.b.oldest()) && h.b.at(h.nb-1).epoch == h.epochB {
		h.nb--
	}
	begin := max(h.a.at(h.na).dts+h.rebase, h.b.at(h.nb).dts)
	for h.na < f.a && h.a.at(h.na).dts+h.rebase < begin-stepTolerance {
		h.na++
	}
	for h.nb < f.b && h.b.at(h.nb).dts < begin-stepTolerance {
		h.nb++
	}
}

// lookForRepeats notes once in a while whether the newest frames are there more than
// once: a loop shows only when it comes round.
func (h *hop) lookForRepeats() {
	if h.ticks++; h.repeat || h.ticks%retry != 0 || h.how == Searching {
		return
	}
	if n := h.how.run(); h.nb >= h.b.oldest()+n && h.how.says(h.b, h.nb-n) {
		h.repeat = h.how.look(h.a, h.b, h.a.oldest(), h.nb-n).repeat
	}
}

// unlock begins anew with frames not looked at yet.
func (h *hop) unlock() {
	h.how, h.searched, h.stray = Searching, 0, 0
	h.floorA, h.floorB = h.na, h.nb
}

// match walks both places in the order of DTS.
func (h *hop) match(out *Hop) {
	if h.na < h.a.oldest() || h.nb < h.b.oldest() {
		h.na, h.nb = max(h.na, h.a.oldest()), max(h.nb, h.b.oldest())
		h.unlock() // one stood for so long that the other's frames are forgotten
		return
	}
	for h.na < h.a.next && h.nb < h.b.next {
		a, b := h.a.at(h.na), h.b.at(h.nb)
		if a.epoch != h.epochA || b.epoch != h.epochB {
			if h.newEpoch(a, b); h.how == Searching {
				return
			}
			continue
		}
		d := b.dts - a.dts - h.rebase
		tolerance := h.tolerance()
		switch {
		case d > tolerance:
			out.Missing++
			h.na++
		case d < -tolerance:
			out.Added++
			h.nb++
			h.stray++
		case !h.how.sizeFits(a, b):
			out.Missing++
			out.Added++
			h.na++
			h.nb++
			h.stray++
		default:
			out.Matched++
			h.stray = 0
			h.rebase += d / 16
			h.delay(a, b, out)
			h.na++
			h.nb++
		}
		if h.stray >= strayFrames {
			h.unlock()
			return
		}
	}
}

// newEpoch passes over what one side still has of before a jump that the other has
// made: whether that was lost is not known. Both beyond it, or one going on as if
// there had been none, is a beginning anew.
func (h *hop) newEpoch(a, b *frame) {
	switch {
	case a.epoch != h.epochA && b.epoch != h.epochB:
		h.unlock()
		return
	case a.epoch != h.epochA:
		h.nb++
	default:
		h.na++
	}
	if h.stray++; h.stray >= strayFrames {
		h.unlock()
	}
}

// tolerance is how far two DTS of one frame may lie apart: a third of the frames'
// spacing at most.
func (h *hop) tolerance() int64 {
	const most = int64(15e6)
	if h.na == h.a.oldest() {
		return stepTolerance
	}
	step := h.a.at(h.na).dts - h.a.at(h.na-1).dts
	return min(max(step/3, stepTolerance), most)
}

func (h *hop) delay(a, b *frame, out *Hop) {
	if a.arrival-h.a.first < settling || b.arrival-h.b.first < settling {
		return
	}
	d := b.arrival - a.arrival
	if h.n == 0 || d > out.Longest {
		out.Longest = d
	}
	h.delays[h.n%len(h.delays)] = d
	h.n++
}
