package codec

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"snag/probes/streams/stream"
)

// Parameter sets as libx264, libx265, SVT-AV1 and libvpx wrote them for one frame.
const (
	sps640x360p25    = "6764001eacd940a02ff97011000003000100000300320f162d96"
	sps1080p2997     = "6742c028da01e0089f97011000003e90000ea600f1832a00" // cropped from 1088
	sps576i25        = "6764001eacd940b424d8088000000300800000190f8a14cb"
	spsHEVC180p50    = "42010101600000030090000003000003003ca00a080c1f3e595952930bc05a020000030002000003006410"
	hvcC180p50       = "0101600000009000000000003cf000fcfdf8f800000f04200001001840010c01ffff01600000030090000003000003003c959409210001002b" + spsHEVC180p50 + "220001000644"
	av1Unit322x182   = "12000a0b000000043d06d4fbf900403221100" + "08ce080000400080095cddb3bec77a32e8e"
	vp9Frame320x180  = "824983420013f00b360638241c184a"
	aacLC48k51       = "11b056e500"
	aacHE44k         = "2b920800"
	aacHE44kImplicit = "139056e5a0"
	aacHEv2          = "eb8a0800"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestHeads(t *testing.T) {
	video := func(codec string, w, h int, fps float64) stream.Params {
		return stream.Params{Kind: stream.Video, Codec: codec, Width: w, Height: h, FPS: fps}
	}
	audio := func(codec string, hz, channels int) stream.Params {
		return stream.Params{Kind: stream.Audio, Codec: codec, SampleRate: hz, Channels: channels}
	}
	avcC := "01640" + "01effe1001a" + sps640x360p25 + "01000668ebe3cb22c0"
	for _, c := range []struct {
		name, hex string
		read      func([]byte) (stream.Params, error)
		want      stream.Params
	}{
		{"H.264 high", sps640x360p25, H264SPS, video(H264, 640, 360, 25)},
		{"H.264 baseline, cropped, 30000/1001", sps1080p2997, H264SPS, video(H264, 1920, 1080, 30000.0/1001)},
		{"H.264 interlaced", sps576i25, H264SPS, video(H264, 720, 576, 25)},
		{"avcC", avcC, func(b []byte) (stream.Params, error) {
			p, n, err := AVCC(b)
			if err == nil && n != 4 {
				t.Errorf("avcC: lengths of %d bytes, want 4", n)
			}
			return p, err
		}, video(H264, 640, 360, 25)},
		{"HEVC", spsHEVC180p50, HEVCSPS, video(HEVC, 320, 180, 50)},
		{"hvcC", hvcC180p50, func(b []byte) (stream.Params, error) {
			p, n, err := HVCC(b)
			if err == nil && n != 4 {
				t.Errorf("hvcC: lengths of %d bytes, want 4", n)
			}
			return p, err
		}, video(HEVC, 320, 180, 50)},
		{"AV1 sequence", "000000043d06d4fbf90040", AV1SequenceHeader, video(AV1, 322, 182, 0)},
		{"av1C", "81000c000a0b000000043d06d4fbf90040", AV1C, video(AV1, 322, 182, 0)},
		{"vpcC", "0100000000150802020200", VP9C, video(VP9, 0, 0, 0)},
		{"AAC-LC 5.1, told that there is no SBR", aacLC48k51, aac, audio(AAC, 48000, 6)},
		{"HE-AAC", aacHE44k, aac, audio(AAC, 44100, 2)},
		{"HE-AAC by sync extension", aacHE44kImplicit, aac, audio(AAC, 44100, 2)},
		{"HE-AAC v2, mono core", aacHEv2, aac, audio(AAC, 44100, 2)},
		{"AAC-LC stereo", "1210", aac, audio(AAC, 44100, 2)},
		{"OpusHead", "4f707573486561640102380180bb0000000000", OpusHead, audio(Opus, 48000, 2)},
		{"dOps", "0002013800000bb8000000", OpusHead, audio(Opus, 48000, 2)},
		{"ADTS", "fff1508003dffc", func(b []byte) (stream.Params, error) {
			h, err := ADTS(b)
			if err == nil && (h.Size != 30 || h.Head != 7 || h.Samples != 1024) {
				t.Errorf("ADTS: %+v", h)
			}
			return h.Params, err
		}, audio(AAC, 44100, 2)},
		{"MP3", "fffb5000", func(b []byte) (stream.Params, error) {
			h, err := MPEGAudio(b)
			if err == nil && (h.Size != 208 || h.Samples != 1152) {
				t.Errorf("MP3: %+v", h)
			}
			return h.Params, err
		}, audio(MP3, 44100, 2)},
		{"AC-3", "0b775052144043e106", func(b []byte) (stream.Params, error) {
			h, err := DolbyAudio(b)
			if err == nil && (h.Size != 768 || h.Samples != 1536) {
				t.Errorf("AC-3: %+v", h)
			}
			return h.Params, err
		}, audio(AC3, 48000, 2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := unhex(t, c.hex)
			got, err := c.read(b)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got.FPS-c.want.FPS) > 1e-9 {
				t.Errorf("fps %v, want %v", got.FPS, c.want.FPS)
			}
			got.FPS, c.want.FPS = 0, 0
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if _, err := c.read(b[:1]); err == nil {
				t.Error("one byte was read without an error")
			}
			if n := testing.AllocsPerRun(20, func() { _, _ = c.read(b) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

func aac(b []byte) (stream.Params, error) {
	a, err := AACConfig(b)
	return a.Params, err
}

func TestHostileSPS(t *testing.T) {
	for name, h := range map[string]string{
		"1000 reference frames in a cycle": "6742001e" + "f8" + strings.Repeat("00", 3) + "ffff",
		"all zeros":                        "67" + strings.Repeat("00", 5000),
		"another unit":                     "68ebe3cb22c0",
	} {
		if _, err := H264SPS(unhex(t, h)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := HEVCSPS(append([]byte{0x42, 1}, make([]byte, 1<<20)...)); err == nil {
		t.Error("a megabyte of zeros was read as an SPS")
	}
}

func TestPictures(t *testing.T) {
	p := AV1Picture(unhex(t, av1Unit322x182))
	if !p.Key || !p.Coded || !p.Told || p.Params.Width != 322 {
		t.Errorf("AV1: %+v", p)
	}
	p = VP9Picture(unhex(t, vp9Frame320x180))
	if !p.Key || p.Params.Width != 320 || p.Params.Height != 180 {
		t.Errorf("VP9: %+v", p)
	}
	if p = VP9Picture([]byte{0x86, 0, 0x40, 0x92}); p.Key || !p.Coded {
		t.Errorf("VP9 inter frame: %+v", p)
	}
	idr := unhex(t, "0000001a"+sps640x360p25+"0000000668ebe3cb22c0"+"00000008"+"658884002bfffef6")
	p = LengthPicture(H264, idr, 4)
	if !p.Key || !p.Coded || p.Params.Width != 640 {
		t.Errorf("H.264 with lengths: %+v", p)
	}
	if q := LengthPicture(H264, idr[:len(idr)-3], 4); q != p {
		t.Errorf("cut short: %+v, want %+v", q, p)
	}
	p = AnnexBPicture(HEVC, unhex(t, "00000001"+spsHEVC180p50+"000001"+"2601af"))
	if !p.Key || !p.Coded || p.Params.Height != 180 {
		t.Errorf("HEVC with start codes: %+v", p)
	}
	if p = AnnexBPicture(H264, unhex(t, "00000109f0"+"000001"+"419a24")); p.Key || !p.Coded {
		t.Errorf("P slice: %+v", p)
	}
}

func TestNAL(t *testing.T) {
	for _, c := range []struct {
		name, codec, hex string
		want             NALInfo
	}{
		{"IDR, first slice", H264, "65888400", NALInfo{Type: 5, Slice: true, First: true, Key: true, Begins: true}},
		{"IDR, second slice", H264, "65248400", NALInfo{Type: 5, Slice: true, Key: true}},
		{"P", H264, "419a24", NALInfo{Type: 1, Slice: true, First: true, Begins: true}},
		{"AUD", H264, "09f0", NALInfo{Type: 9, AUD: true, Begins: true}},
		{"recovery point 0 after another message", H264, "06" + "0101ff" + "0601c480", NALInfo{Type: 6, Recovery: true, Begins: true}},
		{"recovery point 1", H264, "06" + "06014480", NALInfo{Type: 6, Begins: true}},
		{"HEVC IDR_W_RADL", HEVC, "2601af", NALInfo{Type: 19, Slice: true, First: true, Key: true, Begins: true}},
		{"HEVC CRA", HEVC, "2a01af", NALInfo{Type: 21, Slice: true, First: true, Key: true, Begins: true}},
		{"HEVC TRAIL_R, second slice", HEVC, "020150", NALInfo{Type: 1, Slice: true}},
		{"HEVC second layer", HEVC, "0209d0", NALInfo{Type: 1}},
		{"HEVC AUD", HEVC, "460150", NALInfo{Type: 35, AUD: true, Begins: true}},
		{"other codec", AAC, "65888400", NALInfo{}},
	} {
		if got := NAL(c.codec, unhex(t, c.hex)); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestOpusSamples(t *testing.T) {
	for h, want := range map[string]int{"fc": 960, "78": 960, "fd": 1920, "ff03": 2880, "1b02": 5760, "ff3f": 0, "ff": 0, "": 0, "e4": 120} {
		if got := OpusSamples(unhex(t, h)); got != want {
			t.Errorf("%q: %d samples, want %d", h, got, want)
		}
	}
}
