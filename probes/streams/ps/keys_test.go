package ps

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"testing"

	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// wanting is a stream.Keys that wants pictures until it has as many as it says.
type wanting struct {
	n   int
	got [][]byte
}

func (w *wanting) Wanted() bool                    { return len(w.got) < w.n }
func (w *wanting) Key(_ string, b []byte, _ int64) { w.got = append(w.got, b) }

// keyPictures are those of a byte stream, from their first unit to the next picture's.
func keyPictures(name string, b []byte) (out [][]byte) {
	var w codec.AnnexB
	from, coded, key := 0, false, false
	each := func(head []byte, _ int) {
		i := codec.NAL(name, head)
		if i.Begins && coded {
			if key {
				out = append(out, b[from:w.Begin()])
			}
			from, coded, key = w.Begin(), false, false
		}
		coded, key = coded || i.Slice, key || i.Key || i.Recovery
	}
	w.Feed(b, each)
	return out
}

// Key pictures of an encoder's film are handed on as they were, in whatever pieces it comes.
func TestKeyPicturesAreKeptWhole(t *testing.T) {
	for name, encoder := range map[string]string{codec.H264: "libx264", codec.HEVC: "libx265"} {
		path := film(t, 4, encoder)
		all, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		elementary, err := exec.Command("ffmpeg", "-nostdin", "-v", "error", "-i", path, "-c", "copy", "-f", name, "-").Output()
		if err != nil {
			t.Fatal(err)
		}
		want := keyPictures(name, elementary)
		if len(want) < 3 {
			t.Fatalf("%s: the film has %d key pictures", name, len(want))
		}
		for _, piece := range []int{1400, 1, 7, len(all)} {
			keys := &wanting{n: 99}
			d := NewDemuxer(nothing{})
			d.Keys(keys)
			for i := 0; i < len(all); i += piece {
				d.Feed(bytes.Clone(all[i:min(i+piece, len(all))]), 5)
			}
			if got := keys.got; !slices.EqualFunc(got, want[1:], bytes.Equal) { // where the first begins is not known
				t.Errorf("%s in pieces of %d: %d key pictures, want %d", name, piece, len(got), len(want)-1)
			}
		}
	}
}

// A camera's picture in several PES packets is handed on, also where a marker is on every packet; what
// has a hole, what is not wanted and what is too large is not.
func TestKeyPicturesOfACamera(t *testing.T) {
	frames := camera(60)
	for name, c := range map[string]struct {
		wants, told int
		marker      bool
		missing     int // of which picture some bytes are
	}{
		"six":                   {wants: 9, told: 5},
		"with markers":          {wants: 9, told: 5, marker: true},
		"wanted once":           {wants: 1, told: 1},
		"not wanted":            {},
		"a hole in a key":       {wants: 9, told: 4, marker: true, missing: 20},
		"a hole just before it": {wants: 9, told: 4, marker: true, missing: 19},
	} {
		keys := &wanting{n: c.wants}
		d := NewDemuxer(nothing{})
		d.Keys(keys)
		for i, b := range frames {
			if c.missing > 0 && i == c.missing {
				d.Feed(b[:500], 5)
				d.Missing()
				b = b[900:]
			}
			d.Feed(b[:700], 5)
			if c.marker {
				d.FrameEnds()
			}
			d.Feed(b[700:], 5)
			if c.marker {
				d.FrameEnds()
			}
		}
		if len(keys.got) != c.told {
			t.Errorf("%s: %d pictures, want %d", name, len(keys.got), c.told)
		}
		for _, got := range keys.got {
			if !bytes.HasPrefix(got, []byte{0, 0, 0, 1, 0x67}) || !bytes.HasSuffix(got, bytes.Repeat([]byte{0xcd}, 9000)) {
				t.Errorf("%s: %d bytes", name, len(got))
			}
		}
	}
	var k keyed
	k.keys = &wanting{n: 1}
	for i := range stream.MostKey/1000 + 50 {
		k.feed(make([]byte, 1000), 1000*i)
	}
	if got := len(k.whole.Take()); got > 50_000 {
		t.Errorf("%d bytes are kept of a picture that does not end", got)
	}
}
