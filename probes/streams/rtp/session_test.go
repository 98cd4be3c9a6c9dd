package rtp

import (
	"encoding/binary"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pion/rtcp"

	"snag/probes/streams/stream"
)

// taken is a sink that remembers.
type taken struct {
	frames []stream.Frame
	params []stream.Params
	counts [stream.Counts]uint64
	jitter float64
	local  string

	published func()
}

func (s *taken) Published(_ int64, local, _ string) {
	s.local = local
	if s.published != nil {
		s.published()
	}
}
func (s *taken) Frame(f stream.Frame)            { s.frames = append(s.frames, f) }
func (s *taken) Params(p stream.Params)          { s.params = append(s.params, p) }
func (s *taken) Count(c stream.Count, n uint64)  { s.counts[c] += n }
func (s *taken) Gauge(_ stream.Gauge, v float64) { s.jitter = v }
func (s *taken) of(k stream.Kind) (out []stream.Frame) {
	for _, f := range s.frames {
		if f.Kind == k {
			out = append(out, f)
		}
	}
	return out
}

// nothing is a sink that costs nothing.
type nothing struct{}

func (nothing) Published(int64, string, string) {}
func (nothing) Frame(stream.Frame)              {}
func (nothing) Params(stream.Params)            {}
func (nothing) Count(stream.Count, uint64)      {}
func (nothing) Gauge(stream.Gauge, float64)     {}

func packet(pt uint8, seq uint16, ts, ssrc uint32, marker bool, payload ...byte) []byte {
	b := make([]byte, 12, 12+len(payload))
	b[0], b[1] = 0x80, pt
	if marker {
		b[1] |= 0x80
	}
	binary.BigEndian.PutUint16(b[2:], seq)
	binary.BigEndian.PutUint32(b[4:], ts)
	binary.BigEndian.PutUint32(b[8:], ssrc)
	return append(b, payload...)
}

func format(t testing.TB, kind stream.Kind, pt uint8, name string, rate uint32, fmtp string) Format {
	t.Helper()
	f, err := NewFormat(kind, pt, name, rate, 0, fmtp)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestHeads(t *testing.T) {
	h264 := format(t, stream.Video, 96, "H264", 90000, "")
	h265 := format(t, stream.Video, 96, "H265", 90000, "")
	aac := format(t, stream.Audio, 97, "mpeg4-generic", 44100, "sizelength=13;indexlength=3;indexdeltalength=3")
	latm := format(t, stream.Audio, 97, "MP4A-LATM", 44100, "cpresent=0")
	opus := format(t, stream.Audio, 97, "opus", 48000, "")
	vp8 := format(t, stream.Video, 96, "VP8", 90000, "")
	vp9 := format(t, stream.Video, 96, "VP9", 90000, "")
	av1 := format(t, stream.Video, 96, "AV1", 90000, "")
	jpeg := format(t, stream.Video, 26, "JPEG", 90000, "")
	mpa := format(t, stream.Audio, 14, "MPA", 90000, "")
	layer2 := "fffd14c4" + strings.Repeat("00", 92) // 48 kHz, 32 kbit/s, mono: 96 bytes
	ac3 := format(t, stream.Audio, 96, "AC3", 48000, "")
	dolby := "0b77" + "0000" + "00" + "40" + "43" + "00" + strings.Repeat("00", 120) // 48 kHz, 32 kbit/s, stereo: 128 bytes
	for _, c := range []struct {
		name string
		f    *Format
		hex  string
		want heads
	}{
		{"H.264 IDR", &h264, "6588840000", heads{size: 5, coded: true, key: true, begins: true}},
		{"H.264 slice, not the first", &h264, "411a000000", heads{size: 5, coded: true}},
		{"H.264 PPS", &h264, "68ce0c", heads{size: 3, begins: true}},
		{"H.264 STAP-A of PPS and IDR", &h264, "78000368ce0c00046588840a", heads{size: 7, coded: true, key: true, begins: true}},
		{"H.264 STAP-A, a size beyond the packet", &h264, "78ffff68ce0c", heads{}},
		{"H.264 FU-A, first of an IDR", &h264, "7c8588840000", heads{size: 5, coded: true, key: true, begins: true}},
		{"H.264 FU-A, middle of an IDR", &h264, "7c0588840000", heads{size: 4, coded: true, key: true}},
		{"H.264 FU-A without a payload", &h264, "7c85", heads{}},
		{"HEVC IDR_W_RADL", &h265, "2601af0000", heads{size: 5, coded: true, key: true, begins: true}},
		{"HEVC TRAIL_R", &h265, "0201d00000", heads{size: 5, coded: true, begins: true}},
		{"HEVC AP of VPS and CRA", &h265, "6001000340010c00042a01af00", heads{size: 7, coded: true, key: true, begins: true}},
		{"HEVC FU, first of an IDR", &h265, "620193af0000", heads{size: 5, coded: true, key: true, begins: true}},
		{"HEVC FU, last of a TRAIL", &h265, "620141af0000", heads{size: 3, coded: true}},
		{"AAC, two units", &aac, "0020001800100102030405", heads{size: 5, coded: true, whole: true, units: 2, sizes: [16]int32{3, 2}}},
		{"AAC, a fragment", &aac, "0010032001020304", heads{size: 100, coded: true, units: 1, sizes: [16]int32{100}}},
		{"AAC, headers beyond the packet", &aac, "ffff0000", heads{}},
		{"LATM", &latm, "0401020304", heads{size: 4, coded: true, units: 1, sizes: [16]int32{4}}},
		{"Opus", &opus, "fc0102", heads{size: 3, coded: true, whole: true, units: 1, sizes: [16]int32{3}}},
		{"VP8 key picture", &vp8, "10" + "d00200" + "9d012a" + "40014000" + "00", heads{size: 11, coded: true, key: true, begins: true}},
		{"VP8 with a number, not key", &vp8, "9080ff01" + "d10200", heads{size: 3, coded: true, begins: true}},
		{"VP9 key picture", &vp9, "8c80010203", heads{size: 2, coded: true, key: true, begins: true}},
		{"VP9 predicted", &vp9, "cc80010203", heads{size: 2, coded: true, begins: true}},
		{"AV1 first of a sequence", &av1, "180a0b000000", heads{size: 5, coded: true, key: true, begins: true}},
		{"AV1 continued", &av1, "90320b000000", heads{size: 5, coded: true}},
		{"VP9 that ffmpeg sends, predicted", &vp9, "0c8600407f", heads{size: 4, coded: true, begins: true}},
		{"MPEG audio, two frames", &mpa, "00000000" + layer2 + layer2, heads{size: 2 * 96, coded: true, whole: true, units: 2, sizes: [16]int32{96, 96}}},
		{"MPEG audio, the first of two fragments", &mpa, "00000000" + layer2[:100], heads{size: 96, coded: true, whole: true, units: 1, sizes: [16]int32{96}}},
		{"MPEG audio, the second", &mpa, "00000032" + layer2[100:], heads{}},
		{"MPEG audio that is none", &mpa, "000000000102030405", heads{}},
		{"AC-3, a frame", &ac3, "0001" + dolby, heads{size: 128, coded: true, whole: true, units: 1, sizes: [16]int32{128}}},
		{"AC-3, the first of two fragments", &ac3, "0102" + dolby[:180], heads{size: 128, coded: true, whole: true, units: 1, sizes: [16]int32{128}}},
		{"AC-3, the second", &ac3, "0302" + dolby[180:], heads{}},
		{"JPEG", &jpeg, "0000000001502814ffff", heads{size: 2, coded: true, key: true, begins: true}},
		{"nothing", &h264, "", heads{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got heads
			payloadOf(c.f)(c.f, unhex(t, c.hex), &got)
			if got != c.want {
				t.Errorf("%+v\nwant %+v", got, c.want)
			}
		})
	}
}

// A picture of several packets, parameter sets of their own, a marker on every
// slice, a marker that was lost.
func TestPictures(t *testing.T) {
	sink := &taken{}
	s := NewSession([]Format{format(t, stream.Video, 96, "H264", 90000, "")}, sink)
	seq := uint16(65530)
	put := func(ts uint32, marker bool, h string) {
		s.RTP(0, int64(seq-65530+1)*1e6, packet(96, seq, ts, 7, marker, unhex(t, h)...))
		seq++
	}
	put(0, true, "68ce0c") // parameter sets alone, marked
	put(0, false, "7c8588840000")
	put(0, true, "7c4588840000")
	put(3600, true, "4188000000") // every slice marked
	put(3600, true, "411a000000")
	put(7200, false, "4188000000") // the marker was lost
	put(10800, true, "4188000000")
	put(14400, true, "6742c01e") // parameter sets alone: no picture
	s.Tick(int64(time.Hour))
	type f struct {
		key  bool
		pts  time.Duration
		size int
	}
	want := []f{{true, 0, 12}, {false, 40 * time.Millisecond, 5}, {false, 80 * time.Millisecond, 5}, {false, 120 * time.Millisecond, 5}}
	var got []f
	for _, x := range sink.frames {
		got = append(got, f{x.Key, time.Duration(x.PTS - sink.frames[0].PTS), x.Size})
		if x.DTS != x.PTS {
			t.Errorf("DTS %d, PTS %d", x.DTS, x.PTS)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if at := sink.frames[0].Arrival; at != 3e6 {
		t.Errorf("arrival %d, want that of the last packet", at)
	}
}

// A steady stream with B-pictures has no jitter, though its timestamps go to and fro.
func TestJitterOfReorderedPictures(t *testing.T) {
	sink := &taken{}
	s := NewSession([]Format{format(t, stream.Video, 96, "H264", 90000, "")}, sink)
	for i, pts := range decode(200, 2) {
		s.RTP(0, int64(i)*40e6, packet(96, uint16(i), uint32(pts/1e6*90), 1, true, 0x41, 0x88, 0))
	}
	if sink.jitter > 1e-6 {
		t.Errorf("%v s", sink.jitter)
	}
}

func senderReport(t *testing.T, ssrc uint32, wall time.Duration, ts uint32) []byte {
	t.Helper()
	b, err := (&rtcp.SenderReport{SSRC: ssrc, NTPTime: uint64(wall/time.Second)<<32 | uint64(wall%time.Second)<<32/uint64(time.Second), RTPTime: ts}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The audio's packets come 300 ms after the video's of the same moment; the sender's
// reports tell that they belong together.
func TestReportsAlignTracks(t *testing.T) {
	sink := &taken{}
	s := NewSession([]Format{format(t, stream.Video, 96, "H264", 90000, ""), format(t, stream.Audio, 97, "opus", 48000, "")}, sink)
	s.RTCP(1, 0, senderReport(t, 2, 1000*time.Second, 48000))
	ms := int64(time.Millisecond)
	for i := range 50 {
		at := int64(i) * 40 * ms
		s.RTP(0, at, packet(96, uint16(i), 5000+uint32(i)*3600, 1, true, 0x41, 0x88, 0))
		s.RTP(1, at+300*ms, packet(97, uint16(i), 48000+uint32(i)*1920, 2, true, 1, 2, 3))
		if i == 10 {
			s.RTCP(0, at, senderReport(t, 1, 1000*time.Second, 5000))
		}
	}
	v, a := sink.of(stream.Video), sink.of(stream.Audio)
	if len(v) != 50 || len(a) != 50 {
		t.Fatalf("%d pictures, %d sounds", len(v), len(a))
	}
	if skew := time.Duration(a[5].DTS - v[5].DTS); skew != 300*time.Millisecond {
		t.Errorf("before the reports, by arrival: %s", skew)
	}
	if skew := time.Duration(a[40].DTS - v[40].DTS); skew.Abs() > time.Microsecond {
		t.Errorf("after them: %s, want none", skew)
	}
	for i := 1; i < 50; i++ {
		if v[i].DTS-v[i-1].DTS != 40*ms {
			t.Fatalf("the video's time moved at %d", i)
		}
	}
}

func TestOriginByRTPInfo(t *testing.T) {
	sink := &taken{}
	s := NewSession([]Format{format(t, stream.Audio, 97, "opus", 48000, "")}, sink)
	s.Origin(0, 4_294_967_000)
	s.RTP(0, 5e9, packet(97, 1, 184, 2, true, 1))
	if d := time.Duration(sink.frames[0].DTS); d != 10*time.Millisecond {
		t.Errorf("%s after the origin, want 10 ms", d)
	}
	// One that is made up is not believed.
	sink = &taken{}
	s = NewSession([]Format{format(t, stream.Audio, 97, "opus", 48000, "")}, sink)
	s.Origin(0, 0)
	s.RTP(0, 5e9, packet(97, 1, 2_000_000_000, 2, true, 1))
	if d := time.Duration(sink.frames[0].DTS); d != 0 {
		t.Errorf("%s at the first packet", d)
	}
}

// A sender that begins anew is no loss, and its time goes on by arrival.
func TestSenderBeginsAnew(t *testing.T) {
	sink := &taken{}
	s := NewSession([]Format{format(t, stream.Audio, 97, "opus", 48000, "")}, sink)
	ms := int64(time.Millisecond)
	for i := range 10 {
		s.RTP(0, int64(i)*20*ms, packet(97, uint16(i), uint32(i)*960, 1, true, 1))
	}
	for i := range 10 {
		s.RTP(0, 2000*ms+int64(i)*20*ms, packet(97, uint16(30000+i), 777777+uint32(i)*960, 2, true, 1))
	}
	if n := len(sink.frames); n != 20 {
		t.Fatalf("%d frames", n)
	}
	if d := time.Duration(sink.frames[10].DTS - sink.frames[9].DTS); d != 1820*time.Millisecond {
		t.Errorf("its time went on by %s, want 1.82 s", d)
	}
	if sink.counts[stream.PacketsLost] != 0 || sink.counts[stream.Discontinuities] != 1 {
		t.Errorf("counts %v", sink.counts)
	}
	b, err := (&rtcp.Goodbye{Sources: []uint32{2}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if !s.RTCP(0, 0, b) {
		t.Error("the goodbye is not heard")
	}
}

func TestReceiverReport(t *testing.T) {
	s := NewSession([]Format{format(t, stream.Video, 96, "H264", 90000, "")}, nothing{})
	if s.Report(0, 0, 9) != nil {
		t.Error("a report on nothing")
	}
	for _, seq := range []uint16{65533, 65534, 65535, 2, 3} { // 0 and 1 are lost
		s.RTP(0, int64(seq), packet(96, seq, 0, 7, true, 0x41, 0x88, 0))
	}
	s.RTCP(0, 0, senderReport(t, 7, 5*time.Second, 0))
	s.Tick(int64(time.Hour))
	packets, err := rtcp.Unmarshal(s.Report(0, int64(2*time.Second), 9))
	if err != nil {
		t.Fatal(err)
	}
	rr, ok := packets[0].(*rtcp.ReceiverReport)
	if !ok || rr.SSRC != 9 || len(rr.Reports) != 1 {
		t.Fatalf("%v", packets[0])
	}
	want := rtcp.ReceptionReport{SSRC: 7, FractionLost: 2 * 256 / 7, TotalLost: 2, LastSequenceNumber: 1<<16 + 3, LastSenderReport: 5 << 16, Delay: 2 << 16}
	got := rr.Reports[0]
	got.Jitter = 0
	if got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// Nothing that is sent makes it panic or give a frame that is impossible.
func FuzzSession(f *testing.F) {
	f.Add(uint8(0), packet(96, 1, 0, 7, true, 0x78, 0, 3, 0x68, 0xce, 0x0c, 0, 2, 0x65, 0x88))
	f.Add(uint8(1), packet(96, 1, 0, 7, true, 0x62, 1, 0x93, 0xaf, 0))
	f.Add(uint8(2), packet(96, 1, 0, 7, true, 0, 32, 0, 24, 0, 16, 1, 2, 3, 4, 5))
	f.Add(uint8(3), packet(96, 1, 0, 7, true, 0x8c, 0x80, 1, 2, 3))
	names := []string{"H264", "H265", "mpeg4-generic", "VP9", "VP8", "AV1", "MP4A-LATM", "JPEG", "MPA", "AC3", "MP2T"}
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		name := names[int(which)%len(names)]
		kind := stream.Video
		if name[0] == 'm' || name[0] == 'M' && name != "MP2T" || name == "AC3" {
			kind = stream.Audio
		}
		sink := &taken{}
		s := NewSession([]Format{format(t, kind, 96, name, 90000, "sizelength=13;indexlength=3;indexdeltalength=3;ctsdeltalength=9;sprop-max-don-diff=1")}, sink)
		s.Keys(&wanting{n: len(b)})
		total := 0
		for i := 0; len(b) > 0 && i < 100; i++ {
			n := min(len(b), 1+int(b[0])%60)
			s.RTP(0, int64(i)*1e6, b[:n])
			s.RTCP(0, int64(i)*1e6, b[:n])
			total += n
			b = b[n:]
		}
		s.Tick(int64(time.Hour))
		if len(sink.frames) > maxUnits*total {
			t.Errorf("%d frames of %d bytes", len(sink.frames), total)
		}
		for _, f := range sink.frames {
			if f.Size < 0 {
				t.Errorf("frame %+v", f)
			}
		}
	})
}

// The cost of one packet of a 2.5 Mb/s stream of 25 pictures per second: nine FU-A a
// picture. It allocates nothing.
func BenchmarkPacket(b *testing.B) {
	s := NewSession([]Format{format(b, stream.Video, 96, "H264", 90000, "")}, nothing{})
	var packets [9][]byte
	for i := range packets {
		packets[i] = packet(96, 0, 0, 7, i == 8, append([]byte{0x7c, 0x01}, make([]byte, 1400)...)...)
	}
	packets[0][13] |= 0x80
	packets[0][14] = 0x88
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		p := packets[n%9]
		binary.BigEndian.PutUint16(p[2:], uint16(n))
		binary.BigEndian.PutUint32(p[4:], uint32(n/9)*3600)
		s.RTP(0, int64(n)*4e6, p)
		n++
	}
}
