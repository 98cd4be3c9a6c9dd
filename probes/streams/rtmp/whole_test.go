package rtmp

import (
	"bytes"
	"testing"

	"snag/internal/rtmp"
	"snag/probes/streams/stream"
)

// wanting is a stream.Keys that wants as many pictures as it says.
type wanting struct {
	n   int
	got [][]byte
}

func (w *wanting) Wanted() bool { return w.n > 0 }
func (w *wanting) Key(_ string, b []byte, _ int64) {
	w.n--
	w.got = append(w.got, b)
}

// video is a message of video on a chunk stream.
func video(chunk byte, body []byte) []byte { return message(chunk, rtmp.TypeVideo, body) }

// message is one on a chunk stream, in chunks of 128 bytes.
func message(chunk, kind byte, body []byte) (out []byte) {
	n := len(body)
	out = append(out, chunk, 0, 0, 40, byte(n>>16), byte(n>>8), byte(n), kind, 1, 0, 0, 0)
	for i := 0; i < n; i += rtmp.FirstChunkSize {
		if i > 0 {
			out = append(out, 0xc0|chunk)
		}
		out = append(out, body[i:min(n, i+rtmp.FirstChunkSize)]...)
	}
	return out
}

// A key picture is kept whole where it is wanted, with its parameter sets; nothing else is.
func TestKeyPicturesAreKeptWhole(t *testing.T) {
	config := []byte{0x17, 0, 0, 0, 0, 1, 100, 0, 31, 0xff, 0xe1, 0, 2, 0x67, 1, 1, 0, 2, 0x68, 2}
	picture := append([]byte{0, 0, 3, 0xe8, 0x65}, bytes.Repeat([]byte{7}, 999)...)
	key := append([]byte{0x17, 1, 0, 0, 0}, picture...)
	other := append([]byte{0x27, 1, 0, 0, 0}, picture...)
	want := append([]byte{0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68, 2, 0, 0, 0, 1}, picture[4:]...)
	for name, c := range map[string]struct {
		wants int
		told  int
	}{"wanted once": {1, 1}, "wanted always": {9, 2}, "not wanted": {0, 0}} {
		keys := &wanting{n: c.wants}
		p, d := rtmp.NewParser(), Media{Keys: keys}
		p.Keys = rtmp.Wanting{By: keys, Most: stream.MostKey}
		var wire []byte
		for _, body := range [][]byte{config, key, other, key} {
			wire = append(wire, video(6, body)...)
		}
		frames := 0
		sink := &counting{}
		for len(wire) > 0 {
			n, m, err := p.Next(wire[:min(len(wire), 333)]) // in pieces
			if err != nil {
				t.Fatal(err)
			}
			if wire = wire[n:]; m != nil {
				d.Message(m, 5, sink)
				if len(m.Head) > rtmp.Keep && len(m.Head) != len(config) {
					t.Errorf("%s: a head of %d bytes", name, len(m.Head))
				}
			}
		}
		if frames = sink.frames; frames != 3 || len(keys.got) != c.told {
			t.Errorf("%s: %d frames, %d pictures", name, frames, len(keys.got))
		}
		for _, got := range keys.got {
			if !bytes.Equal(got, want) {
				t.Errorf("%s: % x…", name, got[:min(40, len(got))])
			}
		}
	}
}

type counting struct{ frames int }

func (c *counting) Published(int64, string, string) {}
func (c *counting) Frame(stream.Frame)              { c.frames++ }
func (c *counting) Params(stream.Params)            {}
func (c *counting) Count(stream.Count, uint64)      {}
func (c *counting) Gauge(stream.Gauge, float64)     {}
