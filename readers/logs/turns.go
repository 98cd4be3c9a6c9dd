package logs

import (
	"sort"

	"snag/recording"
)

// horizon is how long a request may have been under way so that the seconds before its
// end know of it, s: longer ones are told of their last two minutes.
const horizon = 120

// turnKey is whose request it is: "" is those that the service was asked.
type turnKey struct{ upstream string }

// turn counts one second of one service or upstream.
type turn struct {
	n         uint64
	sum, max  float64
	open      uint64
	oldest    float64
	hist      [64]uint32
	histUntil int
}

func (t *turn) took(s float64) {
	t.n++
	t.sum += s
	t.max = max(t.max, s)
	i := bucket(s)
	t.hist[i]++
	t.histUntil = max(t.histUntil, i+1)
}

func (t *turn) add(o *turn) {
	t.n += o.n
	t.sum += o.sum
	t.max = max(t.max, o.max)
	t.open, t.oldest = o.open, max(t.oldest, o.oldest)
	for i, n := range o.hist[:o.histUntil] {
		t.hist[i] += n
	}
	t.histUntil = max(t.histUntil, o.histUntil)
}

var bounds = func() (b [64]float64) {
	for i := range b {
		b[i] = recording.TurnBound(i)
	}
	return b
}()

// bucket is the place of recording.TurnBound that a length falls into.
func bucket(s float64) int {
	return max(sort.Search(len(bounds), func(i int) bool { return bounds[i] > s })-1, 0)
}

// turns are the requests of one service, by the second in which they ended.
type turns struct {
	sub     recording.Subject
	out     recording.Sink
	seconds map[int64]map[turnKey]*turn
	oldest  int64 // second that is not written yet
	newest  int64
	peers   map[string]string // upstreams that have rows of their own

	spare     []*turn // that were written, to be used again
	spareKeys []map[turnKey]*turn

	rows   int
	merged map[turnKey]*turn // of the seconds of one row, where they are taken together
	begin  int64             // of them
	late   uint64            // lines whose second was written already
}

const (
	// mostUpstreams have rows of their own.
	mostUpstreams = 64
	// rowsEach: after so many rows a row is of twice as long a time; after fullRows much
	// sooner.
	rowsEach, fullRows, sooner = 8_000, 16_000, 2_000
)

// stride is of how many seconds a row is, after so many rows.
func stride(rows int) int64 {
	return 1 << min(min(rows, fullRows)/rowsEach+max(0, rows-fullRows)/sooner, 12)
}

func newTurns(sub recording.Subject, out recording.Sink) *turns {
	return &turns{sub: sub, out: out, seconds: map[int64]map[turnKey]*turn{}, peers: map[string]string{}, merged: map[turnKey]*turn{}}
}

// key bounds the upstreams that are told apart.
func (t *turns) key(upstream []byte) turnKey {
	if len(upstream) == 0 {
		return turnKey{}
	}
	if name, ok := t.peers[string(upstream)]; ok {
		return turnKey{name}
	}
	if len(t.peers) >= mostUpstreams {
		return turnKey{"others"}
	}
	name := string(upstream)
	t.peers[name] = name
	return turnKey{name}
}

// ended counts a request that ended at ns and took s.
func (t *turns) ended(ns int64, upstream []byte, s float64) {
	key := t.key(upstream)
	second := floor(ns)
	t.advance(second)
	t.at(second, key).took(s)
	if s < 1 {
		return
	}
	start := ns - int64(s*1e9)
	for sec := max(floor(start), second-horizon); sec < second; sec++ {
		if sec < t.oldest {
			continue
		}
		c := t.at(sec, key)
		c.open++
		c.oldest = max(c.oldest, float64((sec+1)*1e9-start)/1e9)
	}
}

func floor(ns int64) int64 {
	s := ns / 1e9
	if ns < 0 && ns%1e9 != 0 {
		s--
	}
	return s
}

func (t *turns) at(second int64, key turnKey) *turn {
	if second < t.oldest { // it came after others of two minutes later
		t.late++
		second = t.oldest
	}
	keys := t.seconds[second]
	if keys == nil {
		if n := len(t.spareKeys); n > 0 {
			keys, t.spareKeys = t.spareKeys[n-1], t.spareKeys[:n-1]
		} else {
			keys = map[turnKey]*turn{}
		}
		t.seconds[second] = keys
	}
	c := keys[key]
	if c == nil {
		if n := len(t.spare); n > 0 {
			c, t.spare = t.spare[n-1], t.spare[:n-1]
			*c = turn{}
		} else {
			c = &turn{}
		}
		keys[key] = c
	}
	return c
}

// advance writes the seconds that nothing adds to any more.
func (t *turns) advance(second int64) {
	if t.newest == 0 {
		t.newest, t.oldest = second, second-horizon
		return
	}
	if second <= t.newest {
		return
	}
	t.newest = second
	t.flush(second - horizon)
}

// flush writes all before a second.
func (t *turns) flush(until int64) {
	if until-t.oldest > 2*horizon { // nothing was logged for long
		var all []int64
		for sec := range t.seconds {
			all = append(all, sec)
		}
		sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
		for _, sec := range all {
			if sec < until {
				t.write(sec)
			}
		}
		t.oldest = until
		return
	}
	for ; t.oldest < until; t.oldest++ {
		t.write(t.oldest)
	}
}

func (t *turns) end() {
	if t.newest != 0 {
		t.flush(t.newest + 1)
	}
	t.row()
}

// write puts one second into a row, which may be of several.
func (t *turns) write(second int64) {
	keys := t.seconds[second]
	if keys == nil {
		return
	}
	delete(t.seconds, second)
	if stride := stride(t.rows); second/stride != t.begin/stride || t.begin == 0 {
		t.row()
		t.begin = second
	}
	for key, c := range keys {
		if have := t.merged[key]; have != nil {
			have.add(c)
			t.spare = append(t.spare, c)
		} else {
			t.merged[key] = c
		}
	}
	clear(keys)
	t.spareKeys = append(t.spareKeys, keys)
}

func (t *turns) row() {
	for key, c := range t.merged {
		row := recording.Turns{
			T: recording.Time(t.begin * 1e9), Role: "serve", Remote: "its clients", PID: t.sub.PID, Comm: t.sub.Comm,
			N: c.n, Sum: c.sum, Max: c.max, Open: c.open, Oldest: c.oldest, Hist: make([]uint64, c.histUntil),
		}
		if key.upstream != "" {
			row.Role, row.Remote = "call", key.upstream
		}
		for i := range row.Hist {
			row.Hist[i] = uint64(c.hist[i])
		}
		t.out.Append(row)
		t.spare = append(t.spare, c)
		t.rows++
	}
	clear(t.merged)
}
