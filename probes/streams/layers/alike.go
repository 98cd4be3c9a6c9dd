package layers

// How says by what the frames of two places are told to be the same.
type How uint8

// Ways, the surest first.
const (
	Searching How = iota // not yet: too few frames, or none that are alike
	Same                 // sizes are equal
	Remuxed              // sizes differ by what another container adds
	Pattern              // coded again: by uneven DTS steps and key frames alone
	Unmatched            // coded again, and evenly: its frames can't be distinguished
)

func (h How) String() string {
	return [...]string{"searching", "same", "remuxed", "pattern", "unmatched"}[min(int(h), 4)]
}

// Why says it in a sentence for whoever looks at the hop.
func (h How) Why() string {
	switch h {
	case Same:
		return "frames are matched by their size and DTS"
	case Remuxed:
		return "frames are matched by DTS and nearly their size: the container changed"
	case Pattern:
		return "sizes all differ (coded again): frames are matched by their DTS steps and key frames"
	case Unmatched:
		return "sizes all differ (coded again) and the timestamps are even: frames can't be distinguished, only events can be compared"
	}
	return "no run of frames of one was found again at the other yet"
}

// What another container may add: an access unit delimiter, longer start codes for
// each of some slices; before a key picture parameter sets and SEI.
const (
	addedBytes    = 96
	addedToKey    = 2048
	stepTolerance = int64(2_500_000) // ns: milliseconds and 90 kHz ticks, both rounded, at both ends
)

// run is how many frames in a row must be alike, and what a run must have to say
// anything: sizes that differ, or steps that do.
func (h How) run() uint64 {
	switch h {
	case Same:
		return 8
	case Remuxed:
		return 12
	}
	return 32
}

// sizeFits reports whether two frames can be the same by their sizes.
func (h How) sizeFits(a, b *frame) bool {
	d := int64(b.size) - int64(a.size)
	switch h {
	case Same:
		return d == 0
	case Remuxed:
		most := int64(addedBytes)
		if a.key {
			most = addedToKey
		}
		return max(d, -d) <= most
	}
	return true
}

// runFits compares a run of frames of two places.
func (h How) runFits(a, b *place, na, nb uint64) bool {
	n := h.run()
	for i := range n {
		fa, fb := a.at(na+i), b.at(nb+i)
		if fa.key != fb.key || !h.sizeFits(fa, fb) {
			return false
		}
		if i == 0 {
			continue
		}
		d := (fa.dts - a.at(na+i-1).dts) - (fb.dts - b.at(nb+i-1).dts)
		if max(d, -d) > stepTolerance || fa.epoch != a.at(na).epoch || fb.epoch != b.at(nb).epoch {
			return false
		}
	}
	return true
}

// says reports whether a run of b could be told from another at all.
func (h How) says(b *place, nb uint64) bool {
	small, large := b.at(nb).size, b.at(nb).size
	var uneven int
	for i := uint64(1); i < h.run(); i++ {
		f := b.at(nb + i)
		if f.epoch != b.at(nb).epoch {
			return false
		}
		small, large = min(small, f.size), max(large, f.size)
		if i > 1 {
			d := (f.dts - b.at(nb+i-1).dts) - (b.at(nb+i-1).dts - b.at(nb+i-2).dts)
			if max(d, -d) > 2*stepTolerance {
				uneven++
			}
		}
	}
	switch h {
	case Same:
		return small != large
	case Remuxed:
		return large-small >= 8*addedBytes
	}
	return uneven >= 4
}
