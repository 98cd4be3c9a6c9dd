package flv

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"snag/internal/amf"
	"snag/probes/streams/stream"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func same(a, b Tag) bool {
	return a.Kind == b.Kind && a.Codec == b.Codec && a.Key == b.Key && a.Frame == b.Frame && a.Config == b.Config && a.Track == b.Track &&
		a.Offset == b.Offset && a.Size == b.Size && bytes.Equal(a.Body, b.Body) && a.SampleRate == b.SampleRate && a.Channels == b.Channels
}

func TestVideo(t *testing.T) {
	for _, c := range []struct {
		name, head string
		length     int
		want       Tag
		ok         bool
	}{
		{"AVC sequence header", "17 00 000000 0164", 40, Tag{Codec: "h264", Config: true, Size: 35, Body: []byte{1, 0x64}}, true},
		{"AVC key", "17 01 000050 aabb", 1005, Tag{Codec: "h264", Key: true, Frame: true, Offset: 80e6, Size: 1000, Body: []byte{0xaa, 0xbb}}, true},
		{"AVC, composed before it is decoded", "27 01 ffffd8", 6, Tag{Codec: "h264", Frame: true, Offset: -40e6, Size: 1}, true},
		{"AVC, farthest back", "27 01 800000", 6, Tag{Codec: "h264", Frame: true, Offset: -8388608e6, Size: 1}, true},
		{"AVC end of sequence", "17 02 000000", 5, Tag{}, false},
		{"AVC without a picture", "27 01 000000", 5, Tag{}, false},
		{"cut off", "17 01 00", 3, Tag{}, false},
		{"empty", "", 0, Tag{}, false},
		{"a player's command", "57 00", 2, Tag{}, false},
		{"HEVC as 12", "1c 01 000000 aa", 6, Tag{Codec: "hevc", Key: true, Frame: true, Size: 1, Body: []byte{0xaa}}, true},
		{"Sorenson", "12 aa", 2, Tag{Codec: "h263", Key: true, Frame: true, Size: 1, Body: []byte{0xaa}}, true},
		{"enhanced HEVC sequence header", "90 68766331 01", 100, Tag{Codec: "hevc", Config: true, Size: 95, Body: []byte{1}}, true},
		{"enhanced HEVC frame", "a1 68766331 ffffff bb", 58, Tag{Codec: "hevc", Frame: true, Offset: -1e6, Size: 50, Body: []byte{0xbb}}, true},
		{"enhanced HEVC frame X", "93 68766331 bb", 55, Tag{Codec: "hevc", Key: true, Frame: true, Size: 50, Body: []byte{0xbb}}, true},
		{"enhanced AV1 frame has no composition time", "91 61763031 bb", 55, Tag{Codec: "av1", Key: true, Frame: true, Size: 50, Body: []byte{0xbb}}, true},
		{"enhanced AVC", "91 61766331 000028 bb", 58, Tag{Codec: "h264", Key: true, Frame: true, Offset: 40e6, Size: 50, Body: []byte{0xbb}}, true},
		{"enhanced VP9", "a3 76703039", 55, Tag{Codec: "vp9", Frame: true, Size: 50}, true},
		{"an unknown FourCC", "93 7a7a7a7a", 55, Tag{Key: true, Frame: true, Size: 50}, true},
		{"colour metadata", "94 68766331 02", 55, Tag{}, false},
		{"end of sequence", "92 68766331", 5, Tag{}, false},
		{"a seek command", "d1 00", 2, Tag{}, false},
		{"nanoseconds, then a frame", "97 02 00f424 03 68766331 bb", 60, Tag{Codec: "hevc", Key: true, Frame: true, Offset: 62500, Size: 50, Body: []byte{0xbb}}, true},
		{"an unknown extension of 256 bytes", "97 ff 00ff" + strings.Repeat("00", 256) + "13 68766331", 275, Tag{Codec: "hevc", Key: true, Frame: true, Size: 10}, true},
		{"an extension longer than the tag", "97 80 00", 3, Tag{}, false},
		{"one track", "96 01 68766331 02 000000 bb", 60, Tag{Codec: "hevc", Key: true, Frame: true, Track: 2, Size: 50, Body: []byte{0xbb}}, true},
		{"many tracks", "96 13 68766331 00 000002 bbcc 01 000002 ddee", 100, Tag{Codec: "hevc", Key: true, Frame: true, Size: 2, Body: []byte{0xbb, 0xcc}}, true},
		{"a track longer than the tag", "96 13 68766331 00 ffffff bbcc", 100, Tag{}, false},
	} {
		tag, ok := Video(unhex(t, c.head), c.length)
		if ok != c.ok || ok && !same(tag, c.want) {
			t.Errorf("%s: %+v, %v; want %+v, %v", c.name, tag, ok, c.want, c.ok)
		}
	}
}

func TestAudio(t *testing.T) {
	for _, c := range []struct {
		name, head string
		length     int
		want       Tag
		ok         bool
	}{
		{"AAC sequence header", "af 00 1210", 4, Tag{Codec: "aac", Config: true, Size: 2, Body: []byte{0x12, 0x10}}, true},
		{"AAC", "af 01 21", 300, Tag{Codec: "aac", Key: true, Frame: true, Size: 298, Body: []byte{0x21}}, true},
		{"MP3 44.1 kHz stereo", "2f ff", 300, Tag{Codec: "mp3", Key: true, Frame: true, Size: 299, Body: []byte{0xff}, SampleRate: 44100, Channels: 2}, true},
		{"A-law is 8 kHz whatever it says", "7e ff", 161, Tag{Codec: "pcma", Key: true, Frame: true, Size: 160, Body: []byte{0xff}, SampleRate: 8000, Channels: 1}, true},
		{"Speex", "b6 ff", 31, Tag{Codec: "speex", Key: true, Frame: true, Size: 30, Body: []byte{0xff}, SampleRate: 16000, Channels: 1}, true},
		{"enhanced Opus header", "90 4f707573 4f70", 24, Tag{Codec: "opus", Config: true, Size: 19, Body: []byte("Op")}, true},
		{"enhanced Opus", "91 4f707573 fc", 105, Tag{Codec: "opus", Key: true, Frame: true, Size: 100, Body: []byte{0xfc}}, true},
		{"enhanced AAC, one track", "95 01 6d703461 01 21", 107, Tag{Codec: "aac", Key: true, Frame: true, Track: 1, Size: 100, Body: []byte{0x21}}, true},
		{"enhanced channels' order", "94 4f707573 00", 24, Tag{}, false},
		{"video's packet type 3 is none of audio's", "93 4f707573 00", 24, Tag{}, false},
		{"empty", "", 0, Tag{}, false},
		{"AAC without samples", "af 01", 2, Tag{}, false},
	} {
		c.want.Kind = stream.Audio
		tag, ok := Audio(unhex(t, c.head), c.length)
		if ok != c.ok || ok && !same(tag, c.want) {
			t.Errorf("%s: %+v, %v; want %+v, %v", c.name, tag, ok, c.want, c.ok)
		}
	}
}

func TestMeta(t *testing.T) {
	o := amf.Object{{Name: "width", Value: 1280.0}, {Name: "height", Value: 720.0}, {Name: "framerate", Value: 25.0}, {Name: "videocodecid", Value: 7.0},
		{Name: "audiocodecid", Value: "mp4a"}, {Name: "audiosamplerate", Value: 48000.0}, {Name: "stereo", Value: true}}
	for _, values := range [][]any{{"onMetaData", o}, {"@setDataFrame", "onMetaData", o}} {
		v, a, ok := Meta(values)
		if !ok || v != (stream.Params{Kind: stream.Video, Codec: "h264", Width: 1280, Height: 720, FPS: 25}) ||
			a != (stream.Params{Kind: stream.Audio, Codec: "aac", SampleRate: 48000, Channels: 2}) {
			t.Errorf("%+v %+v %v", v, a, ok)
		}
	}
	bad := amf.Object{{Name: "width", Value: math.NaN()}, {Name: "height", Value: -1.0}, {Name: "framerate", Value: math.Inf(1)},
		{Name: "videocodecid", Value: 1635135537.0}, {Name: "audiocodecid", Value: math.NaN()}, {Name: "audiosamplerate", Value: 1e300}}
	if v, a, ok := Meta([]any{"onMetaData", bad}); !ok || v != (stream.Params{Codec: "av1"}) || a != (stream.Params{Kind: stream.Audio}) {
		t.Errorf("what makes no sense: %+v %+v %v", v, a, ok)
	}
	for _, values := range [][]any{nil, {"onMetaData"}, {"onMetaData", 1.0}, {"onCuePoint", o}, {"@setDataFrame"}} {
		if _, _, ok := Meta(values); ok {
			t.Errorf("%v is metadata", values)
		}
	}
}

func TestClock(t *testing.T) {
	var c Clock
	for _, s := range []struct {
		stamp uint32
		ms    int64
	}{{math.MaxUint32 - 9, math.MaxUint32 - 9}, {30, math.MaxUint32 + 31}, {10, math.MaxUint32 + 11}, {math.MaxUint32, math.MaxUint32}, {40, math.MaxUint32 + 41}} {
		if got := c.NS(s.stamp); got != s.ms*1e6 {
			t.Errorf("%d: %d ns, want %d ms", s.stamp, got, s.ms)
		}
	}
}

// ffmpeg's FLV muxer writes 31 bits, which wrap each 24.8 days. Its frames go on
// evenly over that, audio and video to and fro; a jump stays one.
func TestClockOf31Bits(t *testing.T) {
	const half = int64(1) << 31
	for _, c := range []struct {
		name   string
		stamps []uint32
		want   []int64 // ms
	}{
		{"a wrap", []uint32{1<<31 - 40, 0, 40}, []int64{half - 40, half, half + 40}},
		{"audio and video to and fro", []uint32{1<<31 - 10, 30, 1<<31 - 3, 25, 1<<31 - 1, 70}, []int64{half - 10, half + 30, half - 3, half + 25, half - 1, half + 70}},
		{"a freeze of half a minute over it", []uint32{1<<31 - 40, 30000}, []int64{half - 40, half + 30000}},
		{"the second wrap", []uint32{1<<31 - 40, 0, 1 << 30, 1<<31 - 40, 0}, []int64{half - 40, half, half + half/2, 2*half - 40, 2 * half}},
		{"32 bits go on", []uint32{1<<31 - 40, 1 << 31, 1<<31 + 40}, []int64{half - 40, half, half + 40}},
		{"32 bits, to and fro", []uint32{1 << 31, 1<<31 - 3, 1<<31 + 40}, []int64{half, half - 3, half + 40}},
		{"a publisher that began anew", []uint32{20 * 86400e3, 0, 40}, []int64{20 * 86400e3, 0, 40}},
		{"one that began anew a quarter of an hour before the wrap", []uint32{1<<31 - 900e3, 0}, []int64{half - 900e3, 0}},
		{"a jump to just before the wrap", []uint32{40, 1<<31 - 40}, []int64{40, half - 40}},
		{"one that began anew after a wrap", []uint32{1<<31 - 40, 0, 1 << 30, 0}, []int64{half - 40, half, half + half/2, half}},
	} {
		var clock Clock
		for i, stamp := range c.stamps {
			if got := clock.NS(stamp); got != c.want[i]*1e6 {
				t.Errorf("%s: %d is %d ms, want %d", c.name, stamp, got/1e6, c.want[i])
			}
		}
	}
}

func TestTracks(t *testing.T) {
	var tr Tracks
	avc := Tag{Kind: stream.Video, Codec: "h264", Frame: true}
	tr.Meta(stream.Params{Width: 640, Height: 360, FPS: 25}, stream.Params{Kind: stream.Audio})
	if p, ok := tr.Changed(avc); !ok || p != (stream.Params{Codec: "h264", Width: 640, Height: 360, FPS: 25}) {
		t.Errorf("metadata alone: %+v %v", p, ok)
	}
	tr.Config(stream.Params{Codec: "h264", Width: 1280, Height: 720, FPS: 50})
	if p, ok := tr.Changed(avc); !ok || p != (stream.Params{Codec: "h264", Width: 1280, Height: 720, FPS: 25}) {
		t.Errorf("with a sequence header: %+v %v", p, ok)
	}
	if _, ok := tr.Changed(avc); ok {
		t.Error("changed, and nothing did")
	}
	if p, ok := tr.Changed(Tag{Kind: stream.Video, Codec: "hevc"}); !ok || p.Codec != "hevc" || p.Width != 640 {
		t.Errorf("another codec keeps the old one's sequence header: %+v %v", p, ok)
	}
	if p, ok := tr.Changed(Tag{Kind: stream.Audio, Codec: "mp3", SampleRate: 44100, Channels: 2}); !ok || p.SampleRate != 44100 || p.Channels != 2 {
		t.Errorf("a legacy audio tag: %+v %v", p, ok)
	}
}

func FuzzTag(f *testing.F) {
	f.Add([]byte{0x17, 1, 0, 0, 0x50, 1, 2}, 1000)
	f.Add([]byte{0x97, 2, 0, 0xf4, 0x24, 3, 'h', 'v', 'c', '1', 1}, 60)
	f.Add([]byte{0x96, 0x13, 'h', 'v', 'c', '1', 0, 0, 0, 2, 1, 2, 1}, 20)
	f.Add([]byte{0x95, 1, 'm', 'p', '4', 'a', 1, 0x21}, 100)
	f.Fuzz(func(t *testing.T, b []byte, length int) {
		for _, read := range []func([]byte, int) (Tag, bool){Video, Audio} {
			tag, ok := read(b, length)
			if !ok {
				continue
			}
			if tag.Size < 0 || tag.Size > length || len(tag.Body) > tag.Size || tag.Frame == tag.Config || tag.Frame && tag.Size == 0 {
				t.Fatalf("%+v of %x, %d bytes", tag, b, length)
			}
		}
	})
}
