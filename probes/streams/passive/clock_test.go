package passive

import (
	"testing"

	"snag/probes/streams/stream"
)

// Audio can be set against video once both have told a timestamp of their own: not
// by deltas, and not after deltas were lost.
func TestClocksKnowWhatTheyKnow(t *testing.T) {
	const v, a = int(stream.Video), int(stream.Audio)
	const s = int64(1e9)
	var c clocks
	step := func(kind int, at int64, stamp uint32, relative, known bool) int64 {
		t.Helper()
		out := c.dts(kind, at, stamp, relative)
		if c.known() != known {
			t.Fatalf("known: %v", c.known())
		}
		return out
	}
	step(v, 100*s, 40, true, false)
	step(a, 100*s, 23, true, false)
	if got := step(v, 101*s, 1040, true, false); got != s {
		t.Errorf("video went on to %d", got)
	}
	before := step(v, 102*s, 5_000_000, false, false) // SRS and others repeat whole headers
	step(a, 102*s, 2023, true, false)
	if got := step(a, 103*s, 5_001_100, false, true); got-before != 1100e6 {
		t.Errorf("audio is %d ms after the video", (got-before)/1e6)
	}
	if got := step(v, 103*s, 5_001_000, false, true); got-before != s {
		t.Errorf("video went on by %d ms", (got-before)/1e6)
	}
	c.lost()
	step(v, 104*s, 40, true, false)
	step(a, 104*s, 4, false, false)
	step(v, 105*s, 6_000_000, false, true)
}

// The two may be told from two sides of the wrap.
func TestClocksJoinOverTheWrap(t *testing.T) {
	var c clocks
	video := c.dts(int(stream.Video), 1e9, 1<<32-1000, false)
	audio := c.dts(int(stream.Audio), 2e9, 50, false)
	if audio-video != 1050e6 {
		t.Errorf("audio is %d ms after the video", (audio-video)/1e6)
	}
}
