package sides

import "testing"

// The read of a request is the last before its answer leaves, even where it seems to return before
// the request came.
func TestInside(t *testing.T) {
	const ms = int64(1e6)
	read := func(at int64) Call { return Call{Read: true, Begin: at - ms/10, End: at, PID: 7} }
	wrote := func(at int64) Call { return Call{Begin: at, End: at + ms/10, PID: 7} }
	for _, c := range []struct {
		name          string
		calls         []Call
		read, written int64
	}{
		{"as it is", []Call{read(101 * ms), wrote(130 * ms)}, 101 * ms, 130 * ms},
		{"the packet was stamped late", []Call{read(97 * ms), wrote(130 * ms)}, 97 * ms, 130 * ms},
		{"the request before is as near", []Call{read(96 * ms), wrote(97 * ms), read(100 * ms), wrote(130 * ms)}, 100 * ms, 130 * ms},
		{"the next request", []Call{read(101 * ms), wrote(130 * ms), read(135 * ms), wrote(136 * ms)}, 101 * ms, 130 * ms},
		{"another's", []Call{read(80 * ms), wrote(81 * ms)}, 0, 0},
	} {
		var s turn
		s.last[request], s.first[answer] = 100*ms, 130*ms+ms/20
		var n inside
		for _, call := range c.calls {
			n.take(call, &s)
		}
		if n.read != c.read || n.written != c.written {
			t.Errorf("%s: read %d, written %d", c.name, n.read, n.written)
		}
	}
}
