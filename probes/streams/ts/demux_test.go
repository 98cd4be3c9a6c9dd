package ts

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"unsafe"

	"snag/probes/streams/stream"
)

// kept is what a Demuxer gave.
type kept struct {
	frames []stream.Frame
	params []stream.Params
	counts [stream.Counts]uint64
	gauges map[stream.Gauge]float64
	let    int
}

func (k *kept) Published(int64, string, string)   { k.let++ }
func (k *kept) Frame(f stream.Frame)              { k.frames = append(k.frames, f) }
func (k *kept) Params(p stream.Params)            { k.params = append(k.params, p) }
func (k *kept) Count(c stream.Count, n uint64)    { k.counts[c] += n }
func (k *kept) Gauge(g stream.Gauge, v float64)   { k.set(g, v) }
func (k *kept) of(kind stream.Kind) (n, keys int) { return count(k.frames, kind) }

func (k *kept) set(g stream.Gauge, v float64) {
	if k.gauges == nil {
		k.gauges = map[stream.Gauge]float64{}
	}
	k.gauges[g] = v
}

func count(frames []stream.Frame, kind stream.Kind) (n, keys int) {
	for _, f := range frames {
		if f.Kind == kind {
			n++
			if f.Key {
				keys++
			}
		}
	}
	return n, keys
}

func file(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// lines writes frames as ffprobe's -show_packets was written beside the file:
// type, pts, dts (ticks of 90 kHz), size, key.
func lines(frames []stream.Frame, head map[stream.Kind]int) string {
	sorted := append([]stream.Frame(nil), frames...)
	sort.SliceStable(sorted, func(i, j int) bool {
		a, b := sorted[i], sorted[j]
		if a.Kind != b.Kind {
			return a.Kind == stream.Audio
		}
		return a.DTS < b.DTS
	})
	var s strings.Builder
	for _, f := range sorted {
		key := "__"
		if f.Key || f.Kind == stream.Audio {
			key = "K_"
		}
		fmt.Fprintf(&s, "%s,%d,%d,%d,%s\n", f.Kind, ticks(f.PTS), ticks(f.DTS), f.Size+head[f.Kind], key)
	}
	return s.String()
}

func ticks(ns int64) int64 { return (ns*9 + 50000) / 100000 }

func TestAsFFprobeSees(t *testing.T) {
	for _, c := range []struct {
		file string
		// ffprobe counts heads of audio frames that are the container's.
		head         int
		video, audio stream.Params
	}{
		{"h264-aac.ts", 7, stream.Params{Codec: "h264", Width: 64, Height: 48, FPS: 25}, stream.Params{Kind: stream.Audio, Codec: "aac", SampleRate: 48000, Channels: 2}},
		{"hevc-opus.ts", 0, stream.Params{Codec: "hevc", Width: 64, Height: 48, FPS: 25}, stream.Params{Kind: stream.Audio, Codec: "opus", SampleRate: 48000, Channels: 2}},
		{"mpeg2-mp2.ts", 0, stream.Params{Codec: "mpeg2video", Width: 64, Height: 48, FPS: 25}, stream.Params{Kind: stream.Audio, Codec: "mp2", SampleRate: 48000, Channels: 1}},
		{"h264-ac3.m2ts", 0, stream.Params{Codec: "h264", Width: 64, Height: 48, FPS: 25}, stream.Params{Kind: stream.Audio, Codec: "ac3", SampleRate: 48000, Channels: 2}},
		{"latm.ts", 3, stream.Params{}, stream.Params{Kind: stream.Audio, Codec: "aac", SampleRate: 48000, Channels: 2}},
		{"mp3.ts", 0, stream.Params{}, stream.Params{Kind: stream.Audio, Codec: "mp3", SampleRate: 48000, Channels: 2}},
	} {
		for _, piece := range []int{1, 100, 1316, 1 << 20} {
			t.Run(fmt.Sprintf("%s/%d", c.file, piece), func(t *testing.T) {
				var k kept
				d := New(&k)
				for b := file(t, c.file); len(b) > 0; b = b[min(piece, len(b)):] {
					d.Feed(b[:min(piece, len(b))], 1)
				}
				d.Flush()
				want := string(file(t, strings.TrimSuffix(strings.TrimSuffix(c.file, ".ts"), ".m2ts")+".ffprobe"))
				if got := lines(k.frames, map[stream.Kind]int{stream.Audio: c.head}); got != want {
					t.Errorf("frames:\n%s\nffprobe:\n%s", got, want)
				}
				for _, want := range []stream.Params{c.video, c.audio} {
					found := want == stream.Params{}
					for _, p := range k.params {
						found = found || p == want
					}
					if !found {
						t.Errorf("no %+v in %+v", want, k.params)
					}
				}
				for i, n := range k.counts {
					if n != 0 {
						t.Errorf("count %d is %d", i, n)
					}
				}
			})
		}
	}
}

// A watch holds hundreds of them.
func TestSmall(t *testing.T) {
	if size := unsafe.Sizeof(Demuxer{}); size > 20<<10 {
		t.Errorf("a Demuxer is %d bytes, more than 20 KiB", size)
	} else {
		t.Logf("%d bytes", size)
	}
}
