package layers

// found is where a run of b was found in a.
type found struct {
	ok     bool
	how    How
	a, b   uint64
	repeat bool // it is there more than once, seconds apart: the nearest was taken
}

// apart is how far two finds of one run must lie from each other to be a repetition
// of the pictures, and not pictures that all look the same.
const apart = int64(2e9)

// backlog is how far back runs of b are tried.
const backlog = 240

// patience is how many searches are made before a weaker way is tried: a stream of
// still pictures shows nothing by its sizes until its next key frame.
var patience = [...]int{Same: 0, Remuxed: 4, Pattern: 8}

// find looks for a run of frames of b, the newest first, in a; from are the oldest
// frames that may be used, rounds the searches made before.
func find(a, b *place, fromA, fromB uint64, rounds int) found {
	for _, how := range [...]How{Same, Remuxed, Pattern} {
		n := how.run()
		if rounds < patience[how] {
			break
		}
		fromA, fromB := max(fromA, a.oldest()), max(fromB, b.oldest())
		if a.next < fromA+n || b.next < fromB+n {
			continue
		}
		for back := uint64(0); back < backlog && b.next-n-back >= fromB && b.next >= n+back; back++ {
			nb := b.next - n - back
			if !how.says(b, nb) {
				continue
			}
			if f := how.look(a, b, fromA, nb); f.ok {
				return f
			}
		}
	}
	return found{}
}

// look finds one run of b in a.
func (h How) look(a, b *place, fromA, nb uint64) found {
	var f found
	var last, off int64
	for na := fromA; na+h.run() <= a.next; na++ {
		if !h.runFits(a, b, na, nb) {
			continue
		}
		d := b.at(nb).arrival - a.at(na).arrival
		d = max(d, -d)
		switch {
		case !f.ok:
			f, off = found{ok: true, how: h, a: na, b: nb}, d
		case h == Pattern || a.at(na).dts-last < apart:
			return found{} // alike all over
		default:
			f.repeat = true
			if d < off {
				f.a, off = na, d
			}
		}
		last = a.at(na).dts
	}
	return f
}
