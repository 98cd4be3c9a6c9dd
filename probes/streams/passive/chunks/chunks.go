// Package chunks follows the RTMP chunk streams of a captured connection: from the
// handshake where that was captured, else from the middle, where it searches for
// chunk headers that lead from one to the next, at a chunk size that nobody told.
// Holes in the capture are passed over where the chunk size says what was in them,
// else it searches anew.
//
// While it searches it holds up to maxHeld bytes of a connection, MaxHeldAll of all
// together; once it follows, heads of messages and nothing else.
package chunks

import "snag/internal/rtmp"

// Bounds of what is held.
const (
	MaxHeldAll = 64 << 20  // bytes of all connections
	maxHeld    = 512 << 10 // bytes of one, while it is searched
	searched   = 256 << 10 // bytes in which a search must succeed, else it moves on
)

// Out takes what a direction of a connection carries.
type Out interface {
	Message(at int64, m *rtmp.Message)
	// Locked says that messages come from now on, after a search: whatever was
	// known of time is not known any longer. held is how many bytes it took.
	Locked(at int64, held int)
}

// Pool is what searches of several connections share. It is not for several
// goroutines.
type Pool struct {
	s    searcher
	free [][]byte
	used int // bytes of all buffers that are out
}

// grow appends to a buffer, nil for a new one; ok is false where there is no room
// for more in all, and then the buffer is as it was.
func (p *Pool) grow(to, b []byte) ([]byte, bool) {
	if to == nil {
		if n := len(p.free); n > 0 {
			to, p.free = p.free[n-1][:0], p.free[:n-1]
			p.used += cap(to)
		}
	}
	if len(to)+len(b) <= cap(to) {
		return append(to, b...), true
	}
	size := max(16<<10, 2*cap(to), len(to)+len(b))
	if p.used-cap(to)+size > MaxHeldAll {
		return to, false
	}
	p.used += size - cap(to)
	return append(append(make([]byte, 0, size), to...), b...), true
}

func (p *Pool) put(b []byte) {
	p.used -= cap(b)
	clear(b[:cap(b)]) // payload is not kept, not even in a spare buffer
	if len(p.free) < 4 && cap(b) <= 2*maxHeld {
		p.free = append(p.free, b)
	}
}

type phase uint8

const (
	shaking   phase = iota // the handshake, of a known length
	searching              // for the first chunk
	settling               // a message came that may be split, at a size that is not known
	following
)

// handshake is what each side sends before its first chunk: C0, C1, C2 or S0, S1,
// S2 (RTMP 1.0, section 5.2).
const handshake = 1 + 1536 + 1536

// Follower follows one direction.
type Follower struct {
	out   Out
	pool  *Pool
	p     rtmp.Parser
	phase phase
	left  int      // of the handshake
	size  uint32   // of chunks where it is known, else 0:
	sizes []uint32 // it is one of them; none: anything over bound
	bound uint32   // messages up to here are not split
	trust bool     // the first message of held was judged

	held  []byte // searching, settling; following while the size is not known
	marks []mark
	next  int // bytes held at which to search again
	skip  int // bytes to let pass before the next search
	tries int
	seed  []rtmp.State // the state at the beginning of held, while the size is not known
	whole bool         // held has everything since there
}

// mark is when bytes came.
type mark struct {
	to int // held up to here
	at int64
}

// New makes a follower. start says that the direction's bytes come from the first
// one on.
func New(start bool, pool *Pool, out Out) *Follower {
	f := &Follower{out: out, pool: pool, p: *rtmp.NewParser()}
	if start {
		f.left, f.size = handshake, rtmp.FirstChunkSize
	} else {
		f.search()
	}
	return f
}

// Following reports whether the chunks are known.
func (f *Follower) Following() bool { return f.phase == following }

// ChunkSize is the sender's chunk size, 0 where it is not known yet.
func (f *Follower) ChunkSize() uint32 {
	if f.phase != following || f.size == 0 {
		return 0
	}
	return f.p.ChunkSize()
}

// Data takes the next bytes.
func (f *Follower) Data(at int64, b []byte) {
	if f.phase == shaking {
		n := min(f.left, len(b))
		b, f.left = b[n:], f.left-n
		if f.left > 0 {
			return
		}
		f.phase = following
	}
	if len(b) > 0 {
		f.take(at, b)
	}
}

func (f *Follower) take(at int64, b []byte) {
	switch {
	case f.phase != following:
		f.gather(at, b)
	case f.size == 0:
		f.unsure(at, b)
	default:
		f.follow(at, b)
	}
}

// follow gives bytes to the parser; the chunk size is known.
func (f *Follower) follow(at int64, b []byte) {
	for len(b) > 0 {
		n, m, err := f.p.Next(b)
		b = b[n:]
		if err != nil || m != nil && f.p.Strict && !plausible(m) {
			f.search()
			if len(b) > 0 {
				f.gather(at, b)
			}
			return
		}
		if m != nil {
			f.out.Message(at, m)
		}
	}
}

// Hole says that n bytes are missing; 0: nobody knows how many.
func (f *Follower) Hole(at int64, n int64) {
	switch f.phase {
	case shaking:
		if n > 0 && n <= int64(f.left) {
			if f.left -= int(n); f.left == 0 {
				f.phase = following
			}
			return
		}
		f.search()
	case following:
		if !f.cross(at, n) {
			f.search()
		}
	default:
		f.search()
	}
}

// cross passes over a hole inside messages. The chunks of a message are taken to
// follow each other: whether they did is seen at the next header.
func (f *Follower) cross(at int64, n int64) bool {
	if n <= 0 || f.size == 0 && n > int64(f.p.Left()) {
		return false
	}
	f.whole = false
	f.release()
	f.p.Strict = true
	for n > 0 {
		if f.p.Left() == 0 {
			return false
		}
		k, m := f.p.Skip(int(min(n, int64(f.p.Left()))))
		n -= int64(k)
		if m != nil {
			f.out.Message(at, m)
			if n > 0 {
				return false // which message came next was in the hole
			}
			f.boundary()
			return true
		}
		if n > 0 && f.p.Left() == 0 {
			head := f.goesOn()
			k := int(min(n, int64(len(head))))
			if k == 0 {
				return false
			}
			if _, m, err := f.p.Next(head[:k]); err != nil || m != nil {
				return false
			}
			n -= int64(k)
		}
	}
	return true
}

// goesOn is the header with which the one message on its way goes on; nil where
// there are several.
func (f *Follower) goesOn() []byte {
	var open *rtmp.State
	f.pool.s.states = f.p.States(f.pool.s.states[:0])
	for i := range f.pool.s.states {
		if st := &f.pool.s.states[i]; st.Open {
			if open != nil {
				return nil
			}
			open = st
		}
	}
	if open == nil || open.Chunk >= 64 || open.Extended {
		return nil
	}
	return []byte{0xc0 | byte(open.Chunk)}
}

// Close ends the direction. Messages that waited for the chunk size to show are
// given out where one fits.
func (f *Follower) Close() {
	if f.phase == settling && f.held != nil {
		f.pool.s.steps = budget
		sizes := f.sizes
		if len(sizes) == 0 {
			sizes = []uint32{unlimited}
		}
		for _, size := range sizes {
			if t := f.pool.s.try(f.held, 0, size, f.seed); t.ok && t.count > 0 {
				f.size, f.sizes = size, nil
				f.replay()
				break
			}
		}
	}
	f.release()
}
