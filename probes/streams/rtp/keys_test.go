package rtp

import (
	"bytes"
	"encoding/base64"
	"math/rand"
	"os/exec"
	"slices"
	"strings"
	"testing"

	pion "github.com/pion/rtp"

	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// wanting is a stream.Keys that wants pictures until it has as many as it says.
type wanting struct {
	n   int
	got [][]byte
}

func (w *wanting) Wanted() bool { return len(w.got) < w.n }
func (w *wanting) Key(_ string, b []byte, _ int64) {
	w.got = append(w.got, b)
}

// nals cuts a byte stream into its units.
func nals(b []byte) (out [][]byte) {
	var w codec.AnnexB
	var at []int
	each := func([]byte, int) { at = append(at, w.Begin()) }
	w.Feed(b, each)
	w.End(each)
	for i, from := range at {
		to := len(b)
		if i+1 < len(at) {
			to = at[i+1]
		}
		out = append(out, bytes.TrimLeft(bytes.TrimRight(b[from:to], "\x00"), "\x00")[1:])
	}
	return out
}

// film is pictures that an encoder makes: of each its units. Every fifth is a key picture, of two
// slices where slices.
func film(t *testing.T, format, encoder string, slices int) (pictures [][][]byte) {
	t.Helper()
	argv := []string{"-nostdin", "-loglevel", "quiet", "-f", "lavfi", "-i", "testsrc2=size=320x180", "-frames:v", "20", "-g", "5", "-pix_fmt", "yuv420p", "-c:v", encoder, "-preset", "ultrafast", "-bf", "0"}
	if encoder == "libx265" {
		argv = append(argv, "-x265-params", "log-level=none:scenecut=0:repeat-headers=1:info=0:keyint=5:min-keyint=5:no-open-gop=1")
	} else {
		argv = append(argv, "-slices", string(rune('0'+slices)), "-sc_threshold", "0")
	}
	b, err := exec.Command("ffmpeg", append(argv, "-f", format, "-")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	coded := true
	for _, n := range nals(b) {
		i := codec.NAL(format, n)
		if i.Begins && coded {
			pictures, coded = append(pictures, nil), false
		}
		coded = coded || i.Slice
		last := &pictures[len(pictures)-1]
		*last = append(*last, n)
	}
	return pictures
}

// sender makes RTP packets of pictures.
type sender struct {
	hevc       bool
	aggregates bool // the units before the slices in one packet
	everySlice bool // the marker is on every slice
	everySets  bool // so are parameter sets, before it
	out        []*pion.Packet
	seq        uint16
}

func (s *sender) add(ts uint32, marker bool, payload ...[]byte) {
	s.out = append(s.out, &pion.Packet{Header: pion.Header{Version: 2, PayloadType: 96, SequenceNumber: s.seq, Timestamp: ts, SSRC: 7, Marker: marker}, Payload: bytes.Join(payload, nil)})
	s.seq++
}

func (s *sender) picture(ts uint32, units [][]byte) {
	name, head := codec.H264, 1
	if s.hevc {
		name, head = codec.HEVC, 2
	}
	if s.aggregates {
		packet := []byte{24}
		if s.hevc {
			packet = []byte{48 << 1, 1}
		}
		n := 0
		for ; n < len(units)-1 && !codec.NAL(name, units[n]).Slice; n++ {
			packet = append(append(packet, byte(len(units[n])>>8), byte(len(units[n]))), units[n]...)
		}
		if n > 0 {
			s.add(ts, false, packet)
		}
		units = units[n:]
	}
	var sets [][]byte
	for i, u := range units {
		if info := codec.NAL(name, u); info.Parameter {
			sets = append(sets, u)
		} else if s.everySets && !info.First {
			for _, set := range sets {
				s.add(ts, false, set)
			}
		}
		marker := i == len(units)-1 || s.everySlice && codec.NAL(name, u).Slice
		const most = 300
		if len(u) <= most {
			s.add(ts, marker, u)
			continue
		}
		for b := u[head:]; len(b) > 0; b = b[min(most, len(b)):] {
			flags, last := byte(0), len(b) <= most
			if len(b) == len(u)-head {
				flags = 0x80
			} else if last {
				flags = 0x40
			}
			indicator := []byte{u[0]&0xe0 | 28, flags | u[0]&31}
			if s.hevc {
				indicator = []byte{u[0]&0x81 | 49<<1, u[1], flags | u[0]>>1&63}
			}
			s.add(ts, marker && last, indicator, b[:min(most, len(b))])
		}
	}
}

// Key pictures of an encoder's film are handed on as they were, whatever their packets are like; what
// has a hole is not.
func TestKeyPicturesAreKeptWhole(t *testing.T) {
	for name, c := range map[string]struct {
		sender
		slices  int
		outside bool // the parameter sets are only in the SDP
		apart   bool // they come before their picture, with a time of their own
		change  func([]*pion.Packet) []*pion.Packet
		wants   int
		told    int // of four key pictures, the first of which may have begun before
	}{
		"H.264":                             {slices: 1, wants: 9, told: 3},
		"H.264, wanted once":                {slices: 1, wants: 1, told: 1},
		"H.264, not wanted":                 {slices: 1},
		"H.264, aggregated, of four slices": {sender: sender{aggregates: true}, slices: 4, wants: 9, told: 3},
		"H.264, a marker on every slice":    {sender: sender{everySlice: true}, slices: 4, wants: 9, told: 3},
		"H.264, as GStreamer sends slices":  {sender: sender{everySets: true}, slices: 4, wants: 9, told: 3},
		"H.264, parameter sets in the SDP":  {slices: 1, outside: true, wants: 9, told: 3},
		"H.264, parameter sets apart":       {slices: 1, apart: true, wants: 9, told: 3},
		"H.264, out of order":               {slices: 1, change: swapped, wants: 9, told: 3},
		"H.264, a packet of one is lost":    {slices: 1, change: without(12), wants: 9, told: 2},
		"H.264, the first of one is lost":   {slices: 1, change: without(0), wants: 9, told: 2},
		"HEVC":                              {sender: sender{hevc: true}, wants: 9, told: 3},
		"HEVC, aggregated":                  {sender: sender{hevc: true, aggregates: true}, wants: 9, told: 3},
		"HEVC, parameter sets in the SDP":   {sender: sender{hevc: true}, outside: true, wants: 9, told: 3},
		"HEVC, a packet of one is lost":     {sender: sender{hevc: true}, change: without(3), wants: 9, told: 2},
	} {
		t.Run(name, func(t *testing.T) {
			format, encoder, sdp := codec.H264, "libx264", "H264"
			if c.hevc {
				format, encoder, sdp = codec.HEVC, "libx265", "H265"
			}
			var want [][]byte
			fmtp, s := "", c.sender
			for i, units := range film(t, format, encoder, c.slices) {
				ts := uint32(i * 3600)
				if i%5 == 0 {
					want = append(want, stream0(units))
				}
				if fmtp == "" && (c.outside || c.apart) {
					fmtp = parameters(format, units)
				}
				isSet := func(u []byte) bool { return codec.NAL(format, u).Parameter }
				if c.apart && isSet(units[0]) {
					n := slices.IndexFunc(units, func(u []byte) bool { return !isSet(u) })
					s.picture(ts-1800, units[:n])
					units = units[n:]
				}
				if c.outside {
					units = slices.DeleteFunc(units, isSet)
				}
				if i == 10 && c.change != nil {
					from := len(s.out)
					s.picture(ts, units)
					s.out = append(s.out[:from:from], c.change(s.out[from:])...)
					continue
				}
				s.picture(ts, units)
			}
			if !c.outside {
				fmtp = ""
			}
			keys := &wanting{n: c.wants}
			session := NewSession([]Format{newFormat(t, sdp, fmtp)}, nothing{})
			session.Keys(keys)
			buf := make([]byte, 0, 2000)
			for i, p := range s.out {
				b, err := p.Marshal()
				if err != nil {
					t.Fatal(err)
				}
				buf = append(buf[:0], b...) // the reader's buffer is used again
				session.RTP(0, int64(i)*1e6, buf)
			}
			session.Tick(1e12) // what is lost is given up
			if len(keys.got) != c.told {
				t.Fatalf("%d pictures, want %d", len(keys.got), c.told)
			}
			for _, got := range keys.got {
				if !slices.ContainsFunc(want, func(b []byte) bool { return bytes.Equal(normal(format, b), normal(format, got)) }) {
					t.Errorf("%d bytes that are not key picture", len(got))
				}
			}
		})
	}
}

// normal leaves out all but parameter sets and slices.
func normal(format string, b []byte) []byte {
	return stream0(slices.DeleteFunc(nals(b), func(n []byte) bool {
		i := codec.NAL(format, n)
		return !i.Parameter && !i.Slice
	}))
}

// stream0 is units as a byte stream.
func stream0(units [][]byte) (out []byte) {
	for _, u := range units {
		out = append(append(out, 0, 0, 0, 1), u...)
	}
	return out
}

// parameters are the parameter sets of a picture, as an SDP has them.
func parameters(format string, units [][]byte) string {
	by := map[byte]string{7: "sprop-parameter-sets", 8: "sprop-parameter-sets", 32: "sprop-vps", 33: "sprop-sps", 34: "sprop-pps"}
	var out []string
	for _, u := range units {
		i := codec.NAL(format, u)
		if !i.Parameter {
			continue
		}
		set := base64.StdEncoding.EncodeToString(u)
		if i.Type == 8 {
			out[len(out)-1] += "," + set
		} else {
			out = append(out, by[i.Type]+"="+set)
		}
	}
	return strings.Join(out, "; ")
}

func newFormat(t *testing.T, name, fmtp string) Format {
	t.Helper()
	f, err := NewFormat(stream.Video, 96, name, 90000, 0, fmtp)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func without(n int) func([]*pion.Packet) []*pion.Packet {
	return func(p []*pion.Packet) []*pion.Packet { return slices.Delete(slices.Clone(p), n, n+1) }
}

func swapped(p []*pion.Packet) []*pion.Packet {
	out := slices.Clone(p)
	r := rand.New(rand.NewSource(1))
	for i := 2; i+1 < len(out); i += 2 {
		if j := i + r.Intn(2); j != i {
			out[i], out[j] = out[j], out[i]
		}
	}
	return out
}
