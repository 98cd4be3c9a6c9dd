package sides

// Directions of a connection.
const (
	request = 0 // from who opened it, or asks
	answer  = 1
)

// ending is how a turn without an answer ended.
type ending uint8

const (
	answered ending = iota
	open            // the capture ends
	closed          // a FIN
	reset           // a RST
)

// turn is one request and its answer as one capture shows them. Times are of the
// capture's clock, ns; 0: not seen.
type turn struct {
	bytes [2]span  // of the request and of the answer
	first [2]int64 // its first byte
	last  [2]int64 // the last byte that was missing
	// held is the time in which the sender had sent all, knew all to be received, and
	// sent nothing though there was room; shut that in which the receiver's window had
	// no room. They mean something in the sender's capture only.
	held, shut [2]int64
	stood      int64    // of held, of an answer whose head said that more would come: pauses that people notice
	quiet      [2]int64 // gaps of longGap and more in which no new byte was seen
	again      [2]int64 // bytes that were seen before
	repeats    [2]int   // segments that brought nothing else
	hole       [2]int64 // bytes that the capture has not
	between    int64    // from the whole request to the first byte of the answer, of all its parts
	n          int      // requests in it, where it can be told; at least 1 where it has one
	parts      int      // turns that were joined into this
	push       bool     // nobody asked: more of an answer after a pause
	partial    bool     // the capture begins inside
	connect    bool     // the handshake
	greeting   bool     // the server speaks first
	end        ending
	name       string
	closedAt   int64
	http       httpAnswer
}

func (t *turn) length(dir int) int64 { return t.bytes[dir].to - t.bytes[dir].from }

// stamp notes that bytes of a direction were seen for the first time.
func (t *turn) stamp(dir int, at int64) {
	if t.first[dir] == 0 || at < t.first[dir] {
		t.first[dir] = at
	}
	t.last[dir] = max(t.last[dir], at)
}

// settle works out what is known once the turn is over.
func (t *turn) settle() {
	t.parts = 1
	if t.length(request) > 0 && t.n == 0 {
		t.n = 1
	}
	if t.first[answer] != 0 && t.last[request] != 0 {
		t.between = max(0, t.first[answer]-t.last[request])
		if t.first[answer] < t.last[request] {
			t.parts = 2 // the answer began before the request was whole
		}
	}
	if t.length(answer) > 0 {
		t.end = answered
	}
}

// join adds the turn that follows.
func (t *turn) join(u *turn) {
	for dir := range t.bytes {
		t.bytes[dir].to = max(t.bytes[dir].to, u.bytes[dir].to)
		if t.first[dir] == 0 {
			t.first[dir] = u.first[dir]
		}
		t.last[dir] = max(t.last[dir], u.last[dir])
		t.held[dir] += u.held[dir]
		t.shut[dir] += u.shut[dir]
		t.quiet[dir] += u.quiet[dir]
		t.again[dir] += u.again[dir]
		t.repeats[dir] += u.repeats[dir]
		t.hole[dir] += u.hole[dir]
	}
	t.between += u.between
	t.stood += u.stood
	t.n += u.n
	if !u.push {
		t.parts += u.parts
	}
	t.partial = t.partial || u.partial
	t.end, t.closedAt = u.end, u.closedAt
	if t.name == "" {
		t.name = u.name
	}
}
