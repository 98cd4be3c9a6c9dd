package chunks

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"snag/internal/rtmp"
)

// heard is what a follower gave out.
type heard struct {
	rtmp.Header
	at  int64
	cut bool
}

type collector struct {
	msgs  []heard
	locks int
	held  int
}

func (c *collector) Message(at int64, m *rtmp.Message) {
	c.msgs = append(c.msgs, heard{m.Header, at, m.Cut})
}
func (c *collector) Locked(_ int64, held int) { c.locks, c.held = c.locks+1, held }

// feed gives b from an offset in segments; the time is the offset of their end.
func feed(f *Follower, r *rand.Rand, b []byte, from, to int) {
	for from < to {
		n := min(1+r.IntN(3000), to-from)
		f.Data(int64(from+n), b[from:from+n])
		from += n
	}
}

// same wants what was heard to be a run of what was sent, with nothing made up and
// nothing left out, and each message when its last byte came.
func same(t *testing.T, msgs []sent, got []heard) {
	t.Helper()
	if len(got) == 0 {
		t.Fatal("nothing was heard")
	}
	at := map[int]int{}
	for i, m := range msgs {
		at[m.end] = i
	}
	first := -1
	for i, m := range msgs {
		if int64(m.end) <= got[0].at && m.Length == got[0].Length && m.Type == got[0].Type && got[0].at-int64(m.end) < 3000 {
			first = i
		}
	}
	if first < 0 {
		t.Fatalf("the first message was never sent: %+v", got[0])
	}
	base := map[uint32]uint32{}
	for i, g := range got {
		m := msgs[first+i]
		if g.Length != m.Length || g.Type != m.Type || g.Chunk != m.Chunk {
			t.Fatalf("message %d: got %+v, sent %+v", i, g, m.Header)
		}
		if g.at < int64(m.end) || g.at-int64(m.end) >= 3000 {
			t.Fatalf("message %d ended at %d, heard at %d", i, m.end, g.at)
		}
		if b, ok := base[m.Chunk]; !ok {
			base[m.Chunk] = m.Timestamp - g.Timestamp
		} else if m.Timestamp-g.Timestamp != b {
			t.Fatalf("message %d: timestamp %d, sent %d, base %d", i, g.Timestamp, m.Timestamp, b)
		}
	}
}

// honest wants every message that was heard to have been sent, in that order, and
// to have ended just before it was heard.
func honest(t *testing.T, msgs []sent, got []heard) {
	t.Helper()
	i := 0
	for _, g := range got {
		for i < len(msgs) && (msgs[i].Length != g.Length || int64(msgs[i].end)+9000 < g.at) {
			i++
		}
		if i == len(msgs) || int64(msgs[i].end) > g.at {
			t.Fatalf("a message was made up: %+v", g)
		}
		i++
	}
}

func TestFromTheHandshake(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	m := newMux(128)
	m.out = noise(r, handshake)
	m.stream(r, 2, false)
	var c collector
	f := New(true, new(Pool), &c)
	feed(f, r, m.out, 0, len(m.out))
	if len(c.msgs) != len(m.msgs) {
		t.Fatalf("heard %d messages of %d", len(c.msgs), len(m.msgs))
	}
	same(t, m.msgs, c.msgs)
}

// From any byte of a stream on, at any chunk size, the follower finds the chunks
// within 128 KiB and hears every message from then on as it was sent.
func TestLocksAnywhere(t *testing.T) {
	sizes := []int{128, 129, 1000, 4096, 5000, 8192, 60000, 65536}
	if testing.Short() {
		sizes = []int{128, 4096, 60000}
	}
	for _, size := range sizes {
		for _, style := range []string{"deltas", "full"} {
			t.Run(fmt.Sprint(size, " ", style), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(size), 7))
				m := newMux(size)
				m.full = style == "full"
				m.stream(r, 4, false)
				for range 25 {
					from := 15 + r.IntN(len(m.out)/2)
					var c collector
					f := New(false, new(Pool), &c)
					feed(f, r, m.out, from, len(m.out))
					if c.locks != 1 || !f.Following() {
						t.Fatalf("from %d: %d locks, following %v", from, c.locks, f.Following())
					}
					if c.held > 128<<10 {
						t.Errorf("from %d: locked after %d bytes", from, c.held)
					}
					same(t, m.msgs, c.msgs)
					left := 0
					for _, s := range m.msgs {
						if s.end > from+128<<10 {
							left++
						}
					}
					if len(c.msgs) < left {
						t.Errorf("from %d: heard %d messages, %d ended after 128 KiB", from, len(c.msgs), left)
					}
					if n := f.ChunkSize(); n != 0 && n != uint32(size) {
						t.Errorf("from %d: chunk size %d, is %d", from, n, size)
					}
				}
			})
		}
	}
}

// A server writes a message at a time, and a capture's segment has the whole of it:
// the chunk size is found by the first messages that are split, and kept to.
func TestLocksOnWholeMessages(t *testing.T) {
	for _, size := range []int{128, 4096, 60000} {
		r := rand.New(rand.NewPCG(uint64(size), 9))
		m := newMux(size)
		m.stream(r, 6, false)
		for range 40 {
			i := 1 + r.IntN(len(m.msgs)/3)
			var c collector
			f := New(false, new(Pool), &c)
			for ; i < len(m.msgs); i++ {
				f.Data(int64(m.msgs[i].end), m.out[m.msgs[i-1].end:m.msgs[i].end])
			}
			if c.locks != 1 {
				t.Fatalf("size %d: %d locks", size, c.locks)
			}
			same(t, m.msgs, c.msgs)
		}
	}
}

// Two blocks of audio of one length right after the lock are two, not one.
func TestTwoBlocksOfOneLength(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 10))
	m := newMux(60000)
	audio := func(n int, stamp uint32) {
		m.message(rtmp.Header{Chunk: 4, Type: rtmp.TypeAudio, Stream: 1, Timestamp: stamp}, append([]byte{0xaf, 1}, noise(r, n)...))
	}
	video := func(stamp uint32) {
		m.message(rtmp.Header{Chunk: 6, Type: rtmp.TypeVideo, Stream: 1, Timestamp: stamp}, append([]byte{0x27, 1, 0, 0, 0}, noise(r, 2000+r.IntN(500))...))
	}
	audio(201, 0)
	video(0)
	for i := uint32(1); i < 40; i++ {
		audio(201, i*47+i%2)
		audio(201, i*47+23)
		if i > 5 {
			audio(190+int(i), i*47+24)
		}
		video(i * 40)
	}
	var c collector
	f := New(false, new(Pool), &c)
	feed(f, r, m.out, 5, len(m.out))
	f.Close()
	if c.locks != 1 {
		t.Fatalf("%d locks", c.locks)
	}
	honest(t, m.msgs, c.msgs)
}

// Where pictures of two splits are taken for whole ones, the parser comes two bytes
// early to the next header, and one in some hundred times these bytes and the header's
// first make another one, with an id of three bytes (seen with nginx-rtmp and ffmpeg).
func TestHeadersTwoBytesEarly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 11))
	m := newMux(4096)
	for i := range uint32(60) {
		picture := append([]byte{0x27, 1, 0, 0, 0}, noise(r, 10000+r.IntN(1500))...)
		if i == 1 {
			copy(picture[len(picture)-2:], []byte{0x41, 0xdb})
		}
		m.message(rtmp.Header{Chunk: 6, Type: rtmp.TypeVideo, Stream: 1, Timestamp: 40 * i}, picture)
		for j := range uint32(2) {
			m.message(rtmp.Header{Chunk: 4, Type: rtmp.TypeAudio, Stream: 1, Timestamp: 40*i + 20*j}, append([]byte{0xaf, 1}, noise(r, 170+r.IntN(40))...))
		}
	}
	var c collector
	f := New(false, new(Pool), &c)
	feed(f, r, m.out, 9000, len(m.out))
	if c.locks != 1 || f.ChunkSize() != 4096 {
		t.Fatalf("%d locks, chunk size %d", c.locks, f.ChunkSize())
	}
	same(t, m.msgs, c.msgs)
}

// Audio of one length, which no header tells again (silence, constant bit rate),
// takes longer and several tries; nothing is made up meanwhile.
func TestLocksOnConstantAudio(t *testing.T) {
	for _, size := range []int{128, 4096, 60000} {
		r := rand.New(rand.NewPCG(uint64(size), 8))
		m := newMux(size)
		m.stream(r, 6, true)
		for range 15 {
			from := 15 + r.IntN(len(m.out)/2)
			var c collector
			f := New(false, new(Pool), &c)
			feed(f, r, m.out, from, len(m.out))
			if !f.Following() || c.locks > 6 {
				t.Fatalf("size %d from %d: %d locks, following %v", size, from, c.locks, f.Following())
			}
			honest(t, m.msgs, c.msgs)
			left := 0
			for _, s := range m.msgs {
				if s.end > from+4*searched {
					left++
				}
			}
			if len(c.msgs) < left {
				t.Errorf("size %d from %d: heard %d messages, %d ended after 1 MiB", size, from, len(c.msgs), left)
			}
		}
	}
}

// Random bytes are never taken for a stream.
func TestNoiseIsNoStream(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var c collector
	pool := new(Pool)
	f := New(false, pool, &c)
	b := noise(r, 4<<20)
	feed(f, r, b, 0, len(b))
	if c.locks != 0 || len(c.msgs) != 0 {
		t.Fatalf("%d locks and %d messages in noise", c.locks, len(c.msgs))
	}
	f.Close()
	if pool.used != 0 {
		t.Errorf("%d bytes of buffers were not given back", pool.used)
	}
}

// Holes of any length lose the messages that they touch and no others for long, and
// never make one up.
func TestHoles(t *testing.T) {
	for _, size := range []int{128, 4096, 60000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(size), 11))
			m := newMux(size)
			m.stream(r, 12, false)
			var c collector
			f := New(false, new(Pool), &c)
			lost := 0
			for at := 15; at < len(m.out); {
				to := min(at+100_000+r.IntN(300_000), len(m.out))
				feed(f, r, m.out, at, to)
				n := min(1448*(1+r.IntN(4)), len(m.out)-to)
				if n > 0 {
					f.Hole(int64(to+n), int64(n))
					lost++
				}
				at = to + n
			}
			honest(t, m.msgs, c.msgs)
			if len(c.msgs) < len(m.msgs)*3/4 {
				t.Errorf("heard %d messages of %d with %d holes, %d locks", len(c.msgs), len(m.msgs), lost, c.locks)
			}
			t.Logf("size %d: heard %d of %d with %d holes, %d locks", size, len(c.msgs), len(m.msgs), lost, c.locks)
		})
	}
}

// Nothing of a payload is left in a follower that follows, but heads.
func TestKeepsNoPayload(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	m := newMux(4096)
	m.stream(r, 3, false)
	var c collector
	pool := new(Pool)
	f := New(false, pool, &c)
	feed(f, r, m.out, 1000, len(m.out))
	if f.held != nil || f.size == 0 {
		t.Fatalf("it holds %d bytes while it follows chunks of %d bytes", len(f.held), f.size)
	}
	for _, b := range pool.free {
		for _, x := range b[:cap(b)] {
			if x != 0 {
				t.Fatal("a spare buffer still has bytes of the stream")
			}
		}
	}
}

func FuzzFollower(f *testing.F) {
	r := rand.New(rand.NewPCG(9, 9))
	m := newMux(128)
	m.message(rtmp.Header{Chunk: 6, Type: rtmp.TypeAudio, Stream: 1}, append([]byte{0xaf, 1}, noise(r, 200)...))
	m.message(rtmp.Header{Chunk: 7, Type: rtmp.TypeVideo, Stream: 1}, append([]byte{0x17, 1, 0, 0, 0}, noise(r, 300)...))
	f.Add(m.out, uint16(100), uint16(5), false)
	f.Add(m.out, uint16(10), uint16(0), true)
	f.Fuzz(func(t *testing.T, b []byte, cut, hole uint16, start bool) {
		var c collector
		pool := new(Pool)
		fl := New(start, pool, &c)
		if start {
			fl.Hole(0, handshake)
		}
		// The same bytes many times, so that searches begin.
		for i := 0; i < 40 && len(b) > 0; i++ {
			n := min(int(cut), len(b))
			fl.Data(int64(i), b[:n])
			if hole > 0 {
				fl.Hole(int64(i), int64(hole-1))
			}
			fl.Data(int64(i), b[n:])
		}
		if len(fl.held) > maxHeld+len(b) {
			t.Fatalf("%d bytes held", len(fl.held))
		}
		fl.Close()
		if pool.used != 0 {
			t.Fatalf("%d bytes of buffers were not given back", pool.used)
		}
	})
}
