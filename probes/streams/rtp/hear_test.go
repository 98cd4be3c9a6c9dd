package rtp

import (
	"bytes"
	"encoding/hex"
	"os/exec"
	"testing"

	pion "github.com/pion/rtp"

	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// listening is a stream.Sounds that wants audio until it has as many seconds as it says.
type listening struct {
	n   int
	got []stream.Sound
}

func (l *listening) Wanted() bool                  { return len(l.got) < l.n }
func (l *listening) Sound(s stream.Sound, _ int64) { l.got = append(l.got, s) }

func (l *listening) bytes() (all []byte) {
	for _, s := range l.got {
		all = append(all, s.Bytes...)
	}
	return all
}

// tone is three seconds of a tone, as ffmpeg codes it.
func tone(t *testing.T, argv ...string) []byte {
	t.Helper()
	b, err := exec.Command("ffmpeg", append(append([]string{"-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "sine=r=48000", "-t", "3"}, argv...), "-")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// unitsOf are the access units of ADTS.
func unitsOf(t *testing.T, b []byte) (out [][]byte) {
	t.Helper()
	for len(b) > 0 {
		h, err := codec.ADTS(b)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b[h.Head:h.Size])
		b = b[h.Size:]
	}
	return out
}

// carried are packets of RFC 3640, each of so many units.
func (s *sender) carried(units [][]byte, each int) {
	for i := 0; i < len(units); i += each {
		some := units[i:min(len(units), i+each)]
		head := []byte{0, byte(16 * len(some))}
		for _, u := range some {
			head = append(head, byte(len(u)>>5), byte(len(u)<<3))
		}
		s.add(uint32(i*1024), true, append([][]byte{head}, some...)...)
	}
}

// torn are packets of a part of a unit each.
func (s *sender) torn(units [][]byte, most int) {
	for i, u := range units {
		head := []byte{0, 16, byte(len(u) >> 5), byte(len(u) << 3)}
		for b := u; len(b) > 0; b = b[min(most, len(b)):] {
			s.add(uint32(i*1024), len(b) <= most, head, b[:min(most, len(b))])
		}
	}
}

// heardOf are the seconds that a track of these packets hands on to who wants so many.
func heardOf(t *testing.T, f Format, packets []*pion.Packet, n int) *listening {
	t.Helper()
	l := &listening{n: n}
	s := NewSession([]Format{f}, nothing{})
	s.Sounds(l)
	for i, p := range packets {
		b, err := p.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		s.RTP(0, int64(i)*20e6, b)
		clear(b) // its bytes are not kept
	}
	s.End()
	return l
}

// Audio is handed on a second at a time, in whole frames: the encoder's, however packets carry them.
func TestAudioIsHandedOn(t *testing.T) {
	adts := tone(t, "-c:a", "aac", "-ac", "2", "-f", "adts")
	units := unitsOf(t, adts)
	f, err := NewFormat(stream.Audio, 96, "mpeg4-generic", 48000, 2, "sizelength=13;indexlength=3;indexdeltalength=3;config=1190")
	if err != nil {
		t.Fatal(err)
	}
	for name, send := range map[string]func(*sender){
		"a unit a packet":   func(s *sender) { s.carried(units, 1) },
		"four units":        func(s *sender) { s.carried(units, 4) },
		"fragments":         func(s *sender) { s.torn(units, 100) },
		"two change places": func(s *sender) { s.carried(units, 1); s.out[9], s.out[10] = s.out[10], s.out[9] },
	} {
		var s sender
		send(&s)
		l := heardOf(t, f, s.out, 2)
		if got := l.bytes(); len(l.got) != 2 || !bytes.HasPrefix(adts, got) || len(got) < len(adts)*5/9 || l.got[0].Codec != codec.AAC {
			t.Errorf("%s: %d seconds, %d bytes of %d, or others", name, len(l.got), len(got), len(adts))
		}
	}
	for name, format := range map[string]string{"PCMA": "alaw", "PCMU": "mulaw"} {
		want := tone(t, "-ar", "8000", "-ac", "1", "-f", format)
		f, err := NewFormat(stream.Audio, 96, name, 8000, 1, "")
		if err != nil {
			t.Fatal(err)
		}
		var s sender
		for i := 0; i < len(want); i += 160 {
			s.add(uint32(i), false, want[i:min(len(want), i+160)])
		}
		l := heardOf(t, f, s.out, 2)
		if len(l.got) != 2 || !bytes.Equal(l.bytes(), want[:16000]) || l.got[1].SampleRate != 8000 || l.got[1].Channels != 1 {
			t.Errorf("%s: %d seconds, %d bytes", name, len(l.got), len(l.bytes()))
		}
	}
}

// A second of which a packet lacks is not handed on; nor is audio that nobody wants, or of which ADTS
// can't tell the configuration.
func TestAudioIsNotHandedOn(t *testing.T) {
	adts := tone(t, "-c:a", "aac", "-ac", "2", "-f", "adts")
	units := unitsOf(t, adts)
	for name, c := range map[string]struct {
		config      string
		lose        int
		wants, told int
	}{
		"all there":        {"1190", -1, 9, 3},
		"one lost":         {"1190", 20, 9, 2},
		"a later one lost": {"1190", 90, 9, 2},
		"nobody wants":     {"1190", -1, 0, 0},
		"not told":         {"1180", -1, 9, 0},
		"no config":        {"", -1, 9, 0},
	} {
		var s sender
		s.carried(units, 1)
		if c.lose >= 0 {
			s.out = append(s.out[:c.lose], s.out[c.lose+1:]...)
		}
		f, err := NewFormat(stream.Audio, 96, "mpeg4-generic", 48000, 2, "sizelength=13;indexlength=3;indexdeltalength=3;config="+c.config)
		if err != nil {
			t.Fatal(err)
		}
		l := heardOf(t, f, s.out, c.wants)
		if len(l.got) != c.told {
			t.Errorf("%s: %d seconds, want %d", name, len(l.got), c.told)
		}
		for _, second := range l.got {
			if !bytes.Contains(adts, second.Bytes) {
				t.Errorf("%s: it is not of the whole: %s…", name, hex.EncodeToString(second.Bytes[:20]))
			}
		}
	}
}
