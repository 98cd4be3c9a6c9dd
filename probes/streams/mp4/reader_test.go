package mp4

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"snag/probes/streams/stream"
)

type kept struct {
	frames []stream.Frame
	params []stream.Params
}

func (k *kept) Published(int64, string, string) {}
func (k *kept) Frame(f stream.Frame)            { k.frames = append(k.frames, f) }
func (k *kept) Params(p stream.Params)          { k.params = append(k.params, p) }
func (k *kept) Count(stream.Count, uint64)      {}
func (k *kept) Gauge(stream.Gauge, float64)     {}

func file(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ticksOf are the tracks' timescales, in which ffprobe wrote its packets' times.
type ticksOf map[stream.Kind]int64

func lines(frames []stream.Frame, scale ticksOf) string {
	sorted := append([]stream.Frame(nil), frames...)
	sort.SliceStable(sorted, func(i, j int) bool {
		if sorted[i].Kind != sorted[j].Kind {
			return sorted[i].Kind == stream.Audio
		}
		return sorted[i].DTS < sorted[j].DTS
	})
	var s strings.Builder
	for _, f := range sorted {
		key := "__"
		if f.Key || f.Kind == stream.Audio {
			key = "K_"
		}
		ticks := func(ns int64) int64 { return (ns*scale[f.Kind] + 5e8) / 1e9 }
		fmt.Fprintf(&s, "%s,%d,%d,%d,%s\n", f.Kind, ticks(f.PTS), ticks(f.DTS), f.Size, key)
	}
	return s.String()
}

func TestAsFFprobeSees(t *testing.T) {
	for _, c := range []struct {
		file  string
		scale ticksOf
		want  []stream.Params
	}{
		{"h264-aac.mp4", ticksOf{stream.Video: 90000, stream.Audio: 48000}, []stream.Params{
			{Codec: "h264", Width: 64, Height: 48, FPS: 25}, {Kind: stream.Audio, Codec: "aac", SampleRate: 48000, Channels: 2}}},
		{"hevc-opus.mp4", ticksOf{stream.Video: 90000, stream.Audio: 48000}, []stream.Params{
			{Codec: "hevc", Width: 64, Height: 48, FPS: 25}, {Kind: stream.Audio, Codec: "opus", SampleRate: 48000, Channels: 2}}},
		{"av1.mp4", ticksOf{stream.Video: 12800}, []stream.Params{{Codec: "av1", Width: 64, Height: 64}}},
		{"vp9.mp4", ticksOf{stream.Video: 12800}, []stream.Params{{Codec: "vp9", Width: 64, Height: 48}}},
	} {
		for _, piece := range []int{1, 1000, 1 << 20} {
			t.Run(fmt.Sprintf("%s/%d", c.file, piece), func(t *testing.T) {
				var k kept
				r := New(&k)
				for b := file(t, c.file); len(b) > 0; b = b[min(piece, len(b)):] {
					if err := r.Feed(b[:min(piece, len(b))], 1); err != nil {
						t.Fatal(err)
					}
				}
				want := string(file(t, strings.TrimSuffix(c.file, ".mp4")+".ffprobe"))
				if got := lines(k.frames, c.scale); got != want {
					t.Errorf("frames:\n%s\nffprobe:\n%s", got, want)
				}
				if fmt.Sprint(k.params) != fmt.Sprint(c.want) {
					t.Errorf("%+v, want %+v", k.params, c.want)
				}
			})
		}
	}
}

func box(kind string, body ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))
	return append(append(b, kind...), body...)
}

func TestHostileBoxes(t *testing.T) {
	good := file(t, "h264-aac.mp4")
	movie := good[:strings.Index(string(good), "moof")-4]
	run := box("trun", 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff)
	for name, b := range map[string][]byte{
		"a box smaller than its head":      {0, 0, 0, 7, 'm', 'o', 'o', 'v'},
		"a movie box of 2 GiB":             {0x80, 0, 0, 0, 'm', 'o', 'o', 'v'},
		"a fragment to the end of all":     {0, 0, 0, 0, 'm', 'o', 'o', 'f'},
		"a run of 2^32 samples of no size": append(append([]byte{}, movie...), box("moof", box("traf", append(box("tfhd", 0, 0, 0, 0, 0, 0, 0, 1), run...)...)...)...),
		"a fragment without a movie":       box("moof"),
		"a movie without tracks":           box("moov"),
	} {
		if err := New(&kept{}).Feed(b, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, name := range []string{"h264-aac.mp4", "hevc-opus.mp4", "av1.mp4", "vp9.mp4"} {
		b := file(f, name)
		f.Add(b[:min(len(b), 3000)], uint16(500))
	}
	f.Fuzz(func(t *testing.T, b []byte, piece uint16) {
		var k kept
		r := New(&k)
		r.Keys = &wanting{n: len(b)}
		for rest := b; len(rest) > 0; {
			n := min(len(rest), int(piece)+1)
			if r.Feed(rest[:n], 1) != nil {
				break
			}
			rest = rest[n:]
		}
		if len(r.frames) > maxSamples || cap(r.hold) > 2*maxMovie {
			t.Fatalf("%d samples, %d bytes held", len(r.frames), cap(r.hold))
		}
	})
}
