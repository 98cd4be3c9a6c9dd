package ts

import (
	"bytes"
	"slices"
	"testing"
)

// wanting is a stream.Keys that wants pictures until it has as many as it says.
type wanting struct {
	n   int
	got [][]byte
}

func (w *wanting) Wanted() bool { return len(w.got) < w.n }
func (w *wanting) Key(_ string, b []byte, _ int64) {
	w.got = append(w.got, slices.Clone(b))
}

// A key picture is handed on whole where it is wanted and comes alone in its PES packets; others,
// and what has a hole, are not.
func TestKeyPicturesAreKeptWhole(t *testing.T) {
	key, other := picture(t, true, 3000), picture(t, false, 300)
	for name, c := range map[string]struct {
		wants int
		fill  func(*muxer)
		kind  byte
		told  int
	}{
		"two":            {9, func(*muxer) {}, 0x1b, 2},
		"wanted once":    {1, func(*muxer) {}, 0x1b, 1},
		"not wanted":     {0, func(*muxer) {}, 0x1b, 0},
		"a packet lacks": {9, func(m *muxer) { m.out = slices.Delete(m.out, len(m.out)-5, len(m.out)-4) }, 0x1b, 1},
		"encrypted":      {9, func(*muxer) {}, 0xdb, 0},
	} {
		keys := &wanting{n: c.wants}
		d := New(&kept{})
		d.Keys = keys
		m := &muxer{}
		m.program(0, c.kind, 0)
		m.pes(videoPID, 9000, key)
		m.pes(videoPID, 12600, other)
		m.pes(videoPID, 16200, key[:200])
		m.pes(videoPID, -1, key[200:])
		c.fill(m)
		m.pes(videoPID, 19800, other)
		m.pes(videoPID, 23400, other)
		for _, p := range m.out {
			d.Feed(p, 5)
		}
		d.Flush()
		if len(keys.got) != c.told {
			t.Errorf("%s: %d pictures", name, len(keys.got))
		}
		for _, got := range keys.got {
			if !bytes.Equal(got, key) {
				t.Errorf("%s: %d bytes of %d", name, len(got), len(key))
			}
		}
	}
}
