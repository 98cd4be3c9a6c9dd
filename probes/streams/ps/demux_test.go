package ps

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/stream"
)

// taken is a sink that remembers.
type taken struct {
	frames        []stream.Frame
	params        []stream.Params
	counts        [stream.Counts]uint64
	local, remote string
	done          func()
	most          int
}

func (s *taken) Published(_ int64, local, remote string) { s.local, s.remote = local, remote }
func (s *taken) Params(p stream.Params)                  { s.params = append(s.params, p) }
func (s *taken) Count(c stream.Count, n uint64)          { s.counts[c] += n }
func (s *taken) Gauge(stream.Gauge, float64)             {}
func (s *taken) Frame(f stream.Frame) {
	s.frames = append(s.frames, f)
	if s.done != nil && len(s.frames) >= s.most {
		s.done()
	}
}

func (s *taken) of(k stream.Kind) (out []stream.Frame) {
	for _, f := range s.frames {
		if f.Kind == k {
			out = append(out, f)
		}
	}
	return out
}

// film makes a program stream with ffmpeg: H.264 of 25 pictures per second with two
// B-pictures between others, and MP2.
func film(t *testing.T, seconds int, codec string) string {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Fatal("ffmpeg is not installed: make setup installs it")
	}
	path := filepath.Join(t.TempDir(), "film.mpg")
	out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25", "-f", "lavfi", "-i", "sine=r=48000",
		"-t", strconv.Itoa(seconds), "-c:v", codec, "-preset", "veryfast", "-g", "25", "-bf", "2", "-b:v", "1500k", "-c:a", "mp2", "-f", "vob", path).CombinedOutput()
	if err != nil {
		t.Fatalf("make a film: %v: %s", err, out)
	}
	return path
}

// probed is what ffprobe sees of the video: whether each picture is a key picture,
// and its DTS where it has one.
func probed(t *testing.T, path string) (keys []bool, dts []float64) {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=dts_time,flags", "-of", "csv=p=0", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		at, flags, _ := strings.Cut(strings.TrimSpace(line), ",")
		v, err := strconv.ParseFloat(at, 64)
		if err != nil {
			v = math.NaN()
		}
		keys, dts = append(keys, strings.HasPrefix(flags, "K")), append(dts, v)
	}
	return keys, dts
}

// As ffprobe sees it, in whatever pieces it comes.
func TestAsFFprobeSees(t *testing.T) {
	for _, codec := range []string{"libx264", "libx265"} {
		path := film(t, 4, codec)
		all, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		keys, dts := probed(t, path)
		var first []stream.Frame
		for _, piece := range []int{1400, 1, 7, 2048, len(all)} {
			sink := &taken{}
			d := NewDemuxer(sink)
			for i := 0; i < len(all); i += piece {
				d.Feed(all[i:min(i+piece, len(all))], 5)
			}
			d.End()
			if d.Lost != 0 {
				t.Errorf("%s in pieces of %d: lost its way %d times", codec, piece, d.Lost)
			}
			v := sink.of(stream.Video)
			if first == nil {
				first = v
			} else if !reflect.DeepEqual(v, first) {
				t.Errorf("%s in pieces of %d: not what it is in pieces of 1400", codec, piece)
			}
			if len(v) != len(keys) {
				t.Fatalf("%s in pieces of %d: %d pictures, ffprobe sees %d", codec, piece, len(v), len(keys))
			}
			wrong := 0
			for i, f := range v {
				if f.Key != keys[i] {
					t.Errorf("%s: key of picture %d is %v", codec, i, f.Key)
				}
				if !math.IsNaN(dts[i]) && math.Abs(float64(f.DTS)/1e9-dts[i]) > 0.001 {
					wrong++
				}
			}
			if wrong > 0 {
				t.Errorf("%s in pieces of %d: %d of %d times are not ffprobe's", codec, piece, wrong, len(v))
			}
			p := sink.params[len(sink.params)-1]
			for _, x := range sink.params {
				if x.Width > 0 {
					p = x
				}
			}
			if p.Width != 320 || p.Height != 240 {
				t.Errorf("%+v", sink.params)
			}
			if a := sink.of(stream.Audio); len(a) < 10 {
				t.Errorf("%d blocks of sound", len(a))
			}
		}
	}
}

// pes makes a PES packet with a PTS.
func pes(id byte, pts uint64, payload ...byte) []byte {
	b := []byte{0, 0, 1, id, 0, 0, 0x80, 0x80, 5, byte(0x21 | pts>>29&14), byte(pts >> 22), byte(pts>>14 | 1), byte(pts >> 7), byte(pts<<1 | 1)}
	b = append(b, payload...)
	binary.BigEndian.PutUint16(b[4:], uint16(len(b)-6))
	return b
}

var packHeader = []byte{0, 0, 1, 0xba, 0x44, 0, 4, 0, 4, 1, 0, 0, 3, 0xf8}

// camera makes the frames of a GB/T 28181 device: pack header, before key pictures
// system header and map, the picture in several PES packets, now and then sound.
func camera(frames int) [][]byte {
	var out [][]byte
	for i := range frames {
		b := append([]byte(nil), packHeader...)
		const wrap = 1 << 33
		pts := uint64(wrap - 36000 + i*3600) // it wraps at the tenth
		pts %= wrap
		unit := append([]byte{0, 0, 1, 0x41, 0x9a}, bytes.Repeat([]byte{0xab}, 3000)...)
		if i%10 == 0 {
			b = append(b, 0, 0, 1, 0xbb, 0, 6, 0x80, 0, 1, 4, 0xe1, 0x7f)
			b = append(b, 0, 0, 1, 0xbc, 0, 18, 0xe0, 0xff, 0, 0, 0, 8, 0x1b, 0xe0, 0, 0, 0x90, 0xc0, 0, 0, 1, 2, 3, 4)
			unit = append([]byte{0, 0, 0, 1, 0x67, 0x42, 0xc0, 0x1e, 0xd9, 0, 0xa0, 0x47, 0xfe, 0x88, 0, 0, 0, 1, 0x68, 0xce, 0x3c, 0x80, 0, 0, 0, 1, 0x65, 0x88}, bytes.Repeat([]byte{0xcd}, 9000)...)
		}
		first := true
		for len(unit) > 0 {
			n := min(len(unit), 4000)
			p := pes(0xe0, pts, unit[:n]...)
			if !first { // without times
				p[7], p[8] = 0, 0
				p = append(p[:9], p[14:]...)
				binary.BigEndian.PutUint16(p[4:], uint16(len(p)-6))
			}
			first = false
			b = append(b, p...)
			unit = unit[n:]
		}
		b = append(b, pes(0xc0, pts, bytes.Repeat([]byte{0xd5}, 320)...)...)
		out = append(out, b)
	}
	return out
}

func TestCamera(t *testing.T) {
	sink := &taken{}
	d := NewDemuxer(sink)
	for i, b := range camera(30) {
		at := int64(i+1) * 40e6
		d.Feed(b[:1000], at)
		d.Feed(b[1000:], at+1e6)
		d.FrameEnds()
	}
	v, a := sink.of(stream.Video), sink.of(stream.Audio)
	if len(v) != 30 || len(a) != 30 {
		t.Fatalf("%d pictures, %d blocks of sound", len(v), len(a))
	}
	for i, f := range v {
		if f.Key != (i%10 == 0) || f.Arrival != int64(i+1)*40e6+1e6 || f.Size != []int{3002, 9018}[map[bool]int{true: 1}[f.Key]] && !f.Key {
			t.Errorf("picture %d: %+v", i, f)
		}
		if i > 0 && f.DTS-v[i-1].DTS != int64(40*time.Millisecond) || a[i].DTS != f.DTS || a[i].Size != 320 {
			t.Errorf("step of %s at %d, sound %+v", time.Duration(f.DTS-v[max(i-1, 0)].DTS), i, a[i])
		}
	}
	if sink.params[0].Codec != "h264" || sink.params[len(sink.params)-1].Codec != "pcma" && sink.params[1].Codec != "pcma" {
		t.Errorf("%+v", sink.params)
	}
}

// After a loss the next pack header is where it goes on.
func TestMissing(t *testing.T) {
	sink := &taken{}
	d := NewDemuxer(sink)
	for i, b := range camera(30) {
		if i == 15 {
			d.Feed(b[:500], 1)
			d.Missing()
			d.Feed(b[900:], 1)
			continue
		}
		d.Feed(b, 1)
		d.FrameEnds()
	}
	if v := sink.of(stream.Video); len(v) != 29 || d.Lost != 1 {
		t.Errorf("%d pictures, lost its way %d times", len(v), d.Lost)
	}
}

func FuzzDemuxer(f *testing.F) {
	var all []byte
	for _, b := range camera(3) {
		all = append(all, b[:min(len(b), 400)]...)
	}
	f.Add(all, 7)
	f.Add(append(append([]byte{0, 0, 1, 0xba, 0x44}, all...), 0, 0, 1, 0xbc, 255, 255), 3)
	f.Add([]byte{0, 0, 1, 0xba, 0x21, 0, 1, 0, 1, 128, 0, 1, 0, 0, 1, 0xe0, 0, 0, 0, 0, 1, 0xb9}, 1)
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		if piece < 1 {
			piece = 1
		}
		pieces, whole := &taken{}, &taken{}
		d := NewDemuxer(pieces)
		d.Keys(&wanting{n: len(b)})
		for i := 0; i < len(b); i += piece {
			d.Feed(b[i:min(i+piece, len(b))], 1)
		}
		d.End()
		w := NewDemuxer(whole)
		w.Feed(b, 1)
		w.End()
		if len(pieces.frames) > len(b) || d.Packs != w.Packs || d.Lost != w.Lost {
			t.Fatalf("%d frames of %d bytes; packs %d, %d; lost %d, %d", len(pieces.frames), len(b), d.Packs, w.Packs, d.Lost, w.Lost)
		}
		for _, f := range append(pieces.frames, whole.frames...) {
			if f.Size <= 0 || f.Size > len(b)+8*2048 {
				t.Fatalf("%+v of %d bytes", f, len(b))
			}
		}
	})
}

// The cost of one RTP packet of 1400 bytes, walked over for NAL units; it
// allocates nothing.
func BenchmarkFeed(b *testing.B) {
	d := NewDemuxer(&nothing{})
	var all []byte
	for _, f := range camera(10) {
		all = append(all, f...)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		end := min(i+1400, len(all))
		d.Feed(all[i:end], 1)
		if i = end; i == len(all) {
			i = 0
		}
	}
}

type nothing struct{}

func (nothing) Published(int64, string, string) {}
func (nothing) Frame(stream.Frame)              {}
func (nothing) Params(stream.Params)            {}
func (nothing) Count(stream.Count, uint64)      {}
func (nothing) Gauge(stream.Gauge, float64)     {}
