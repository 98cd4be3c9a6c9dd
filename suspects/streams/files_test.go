package streams

import "testing"

// A playlist on disk is new where it changes as often as it has to.
func TestFreshPlaylist(t *testing.T) {
	for _, c := range []struct {
		what string
		v    served
		want bool
	}{
		{"it changed each second", served{seen: true, changes: 8, still: 1.1, looked: 8, target: 1}, true},
		{"it changed once less, by when it was looked at", served{seen: true, changes: 3, still: 1.4, looked: 4, target: 1}, true},
		{"each 1.6 s: the encoder is too slow", served{seen: true, changes: 3, still: 1.6, looked: 4.8, target: 1}, false},
		{"it stopped for long", served{seen: true, changes: 6, still: 3, looked: 7, target: 1}, false},
		{"it changed once", served{seen: true, changes: 1, still: 1, looked: 2, target: 1}, false},
		{"nobody looked", served{target: 1}, false},
	} {
		if got := c.v.fresh(); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
