package scene

import (
	"fmt"

	"snag/recording"
)

// amountNear is by how much of a stream's bytes what its connection carries may differ: headers, what
// is sent again in other packets, and what the server held when the two were read.
const amountNear = 0.2

// amountOf is the only one of some connections that carries as many bytes as the stream, in the seconds
// in which both were read: where a server passes it on in pieces of its own, no rhythm tells.
func amountOf(r *recording.Recording, st *Stream, all []*Socket) (found *Socket, by string) {
	stream := streamBytes(r, st.Row)
	for _, k := range all {
		if !amountFits(stream, received(k)) {
			continue
		}
		if found != nil {
			return nil, ""
		}
		found = k
	}
	return found, fmt.Sprintf("of %d connections it is the only one that carries as many bytes as the stream", len(all))
}

// amountFits reports whether two running totals grew alike while both were read, for likeFew seconds at the least.
func amountFits(a, b []recording.Point) bool {
	if len(a) < likeFew || len(b) < likeFew {
		return false
	}
	from, to := max(a[0].T, b[0].T), min(a[len(a)-1].T, b[len(b)-1].T)
	if to.Sub(from).Seconds() < likeFew {
		return false
	}
	stream, came := totalAt(a, to)-totalAt(a, from), totalAt(b, to)-totalAt(b, from)
	return stream > BringsLeast && came >= (1-amountNear)*stream && came <= (1+amountNear)*stream
}
