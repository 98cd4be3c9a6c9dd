// Package kin finds out which of many streams carry the same frames: which of the
// connections on this host are readers of what one publisher sends, and what a
// connection's stream is called, where another that has its frames has a name.
//
// Frames are known by their sizes and key frames, as in probes/streams/layers, and where
// an encoder makes all of one size, by a sum of their first bytes; DTS may be rebased,
// but by a constant. Runs of eight pictures are compared, and of
// those about one in four: the ones whose sum falls so, which are the same ones at
// every place. A stream that was coded again, or that another protocol carries in
// other sizes, is not found.
package kin

import (
	"slices"
	"sync"
	"time"

	"snag/probes/streams/stream"
)

const (
	runLength = 8
	oneIn     = 4                // runs are compared
	distinct  = 5                // sizes a run must have at the least, to say anything
	kept      = 128              // runs of a member: 17 s at 30 fps
	oldest    = int64(60e9)      // ns: a run that is further apart is another showing of a film
	tolerance = int64(2_500_000) // ns: DTS are milliseconds, or 90 kHz ticks, rounded at both ends
	perRun    = 8                // places of one run that are remembered
	maxRivals = 8                // streams that a member is compared with at a time
)

// Standing is what a member can tell of the stream that it carries.
type Standing uint8

// Standings, the least first: one that can tell more is whom others are named after.
const (
	Reader    Standing = iota // a reader's connection whose stream nothing named
	Publisher                 // a publisher's whose stream nothing named
	Named                     // the stream's name is known
)

// Crowd compares streams. It may be used from several goroutines.
type Crowd struct {
	mu     sync.Mutex
	runs   map[uint64][]place
	idents map[string]*ident // by name
	next   int
}

// New returns a Crowd of nobody.
func New() *Crowd { return &Crowd{runs: map[uint64][]place{}, idents: map[string]*ident{}} }

// place is where a run was seen.
type place struct {
	m    *Member
	at   int64 // arrival of its last frame, ns
	dts  int64
	same bool // another of its stream has it
}

// ident is a stream as somebody knows it. One that turned out to be another's points there.
type ident struct {
	standing  Standing
	name      string // the stream's, or the connection's
	number    int    // in the order in which they came
	publisher string // who sends it; "" where nobody is seen to
	runs      int    // of all its members
	same      *ident
}

func (i *ident) root() *ident {
	for i.same != nil {
		i = i.same
	}
	return i
}

// Member is one connection, or one reader of snag's own.
type Member struct {
	c        *Crowd
	own      *ident
	standing Standing
	from     string // the publisher's address where it is one

	frame [runLength]frame
	n     int
	mine  [kept]uint64 // its runs in the Crowd's index, by turns
	count int

	rivals  []rival
	matched int   // runs of its stream's since it is known, and
	runs    int   // of so many
	alone   int   // of them since the last that was its stream's
	others  int   // runs of its stream, all members', when that was
	lastHit int64 // ns
	delay   int64 // ns
}

type frame struct {
	size int32
	mark uint32
	key  bool
	dts  int64
}

// Join adds a member. name is the stream's where it is Named, else what its
// connection is called; publisher is the address of the other end of a connection
// that brings the stream to its server, "" for all else.
func (c *Crowd) Join(s Standing, name, publisher string) *Member {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := &Member{c: c, from: publisher}
	m.own = &ident{standing: s, name: name, number: c.next, publisher: publisher}
	c.next++
	m.called(s, name)
	return m
}

// Called says that a member's stream has a name after all.
func (m *Member) Called(name string) {
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	m.called(Named, name)
}

func (m *Member) called(s Standing, name string) {
	m.standing = s
	if s != Named {
		return
	}
	c := m.c
	named := c.idents[name]
	if named == nil {
		if len(c.idents) >= maxNames {
			return
		}
		named = &ident{standing: Named, name: name, number: c.next}
		c.next++
		c.idents[name] = named
	}
	m.own.same = named
	if m.from != "" {
		named.publisher = m.from
	}
}

// maxNames bounds what a host can make snag remember of names.
const maxNames = 16384

// Leave takes a member out: its runs are found no more.
func (m *Member) Leave() {
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	for _, h := range m.mine {
		m.c.forget(h, m)
	}
	if r := m.own.root(); r.publisher == m.from && m.from != "" && r.standing == Named {
		r.publisher = ""
	}
}

// Frame takes a frame as it came.
func (m *Member) Frame(f stream.Frame) {
	if f.Kind != stream.Video {
		return
	}
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	m.frame[m.n%runLength] = frame{int32(min(max(f.Size, 0), 1<<30)), f.Mark, f.Key, f.DTS}
	m.n++
	if m.n < runLength {
		return
	}
	if h, ok := m.sum(); ok {
		m.run(h, f.Arrival, f.DTS)
	}
}

// sum is the last run's, where it is one to be compared: by the sizes of its pictures, or where too
// many are of one size, as some encoders fill them up, by their marks.
func (m *Member) sum() (uint64, bool) {
	h, differ := m.sumOf(func(f frame) uint32 { return uint32(f.size) })
	if differ < distinct {
		if h, differ = m.sumOf(func(f frame) uint32 { return f.mark }); m.unmarked() {
			return 0, false
		}
	}
	return h, differ >= distinct && h%oneIn == 0 && h != 0
}

// sumOf is the sum over one thing of the pictures of a run, and how many of them differ in it.
func (m *Member) sumOf(what func(frame) uint32) (h uint64, differ int) {
	h, differ = 14695981039346656037, 1 // FNV-1a
	for i := range runLength {
		f := m.frame[(m.n+i)%runLength]
		v := uint64(what(f)) << 1
		if f.key {
			v |= 1
		}
		h = (h ^ v) * 1099511628211
		h ^= h >> 29
		fresh := i > 0
		for j := range i {
			fresh = fresh && what(m.frame[(m.n+j)%runLength]) != what(f)
		}
		if fresh {
			differ++
		}
	}
	return h, differ
}

// unmarked reports whether the first bytes of a picture of the run did not come.
func (m *Member) unmarked() bool {
	return slices.ContainsFunc(m.frame[:], func(f frame) bool { return f.mark == 0 })
}

// Kin is what a member's stream is.
type Kin struct {
	// Name is the stream's, "" while nothing told it. By says what did: "itself", or
	// "frames", which are those of a stream of that name.
	Name, By string
	// Publisher is the address of who sends it; "" where nobody is seen to.
	Publisher string
	// Of is what the other is called whose frames it has, where no name is known:
	// the publisher's connection, or another reader's.
	Of string
	// Runs of eight pictures were compared with that stream's, and so many were
	// there. 0 where it is known by itself.
	Matched, Runs int
	// Delay is by how much its frames come later than that stream's, the last seen.
	Delay time.Duration
	// Rivals is how many streams have its frames, where that can't tell which it is.
	Rivals int
}

// Kin reports what is known now, the monotonic clock at now.
func (m *Member) Kin(now int64) Kin {
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	m.judge(now)
	r := m.own.root()
	k := Kin{Publisher: r.publisher, Rivals: m.ambiguous(now)}
	if r == m.own {
		return k
	}
	if m.standing != Named {
		k.Matched, k.Runs, k.Delay, k.By = m.matched, m.runs, time.Duration(m.delay), "frames"
	} else {
		k.By = "itself"
	}
	if r.standing == Named {
		k.Name = r.name
	} else {
		k.Of = r.name
	}
	return k
}
