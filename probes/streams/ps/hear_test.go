package ps

import (
	"bytes"
	"encoding/binary"
	"os/exec"
	"testing"

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

// spoken are a device's packets of audio of a stream_type: each PES packet has some bytes and is so
// long (ns); where untimed, each second one has no time.
func spoken(kind byte, audio []byte, each int, step int64, untimed bool) (out [][]byte) {
	for i := 0; i*each < len(audio); i++ {
		b := append([]byte(nil), packHeader...)
		if i%20 == 0 {
			b = append(b, 0, 0, 1, 0xbc, 0, 14, 0xe0, 0xff, 0, 0, 0, 4, kind, 0xc0, 0, 0, 1, 2, 3, 4)
		}
		p := pes(0xc0, uint64(int64(i)*step*9/1e5), audio[i*each:min(len(audio), (i+1)*each)]...)
		if untimed && i%2 == 1 {
			p[7], p[8] = 0, 0
			p = append(p[:9], p[14:]...)
			binary.BigEndian.PutUint16(p[4:], uint16(len(p)-6))
		}
		out = append(out, append(b, p...))
	}
	return out
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

func heardOf(packets [][]byte, wants int) *listening {
	l := &listening{n: wants}
	d := NewDemuxer(nothing{})
	d.Sounds(l)
	for _, b := range packets {
		for ; len(b) > 0; b = b[min(len(b), 100):] {
			d.Feed(b[:min(len(b), 100)], 5)
		}
	}
	return l
}

// G.711 is handed on a second at a time.
func TestAudioIsHandedOn(t *testing.T) {
	for kind, c := range map[byte]struct{ codec, format string }{0x90: {"pcma", "alaw"}, 0x91: {"pcmu", "mulaw"}} {
		want := tone(t, "-ar", "8000", "-ac", "1", "-f", c.format)
		packets := spoken(kind, want, 320, 40e6, false)
		l := heardOf(packets, 2)
		if len(l.got) != 2 || !bytes.Equal(l.bytes(), want[:16000]) || l.got[0].Codec != c.codec || l.got[0].SampleRate != 8000 || l.got[0].Channels != 1 {
			t.Errorf("%s: %d seconds, %d bytes, or others", c.codec, len(l.got), len(l.bytes()))
		}
		if l := heardOf(packets, 0); len(l.got) > 0 {
			t.Errorf("%s: nobody wants it", c.codec)
		}
	}
	if l := heardOf(spoken(0x99, make([]byte, 3000), 40, 40e6, false), 2); len(l.got) > 0 {
		t.Errorf("a codec that is not decoded: %d seconds", len(l.got))
	}
}

// AAC is handed on in whole frames, wherever the PES packets cut it, and whether each has a time.
func TestAACIsHandedOn(t *testing.T) {
	adts := tone(t, "-c:a", "aac", "-ac", "1", "-f", "adts")
	for name, untimed := range map[string]bool{"a time each": false, "not each": true} {
		const each = 300
		step := int64(each) * 3e9 / int64(len(adts))
		l := heardOf(spoken(0x0f, adts, each, step, untimed), 2)
		if len(l.got) != 2 || l.got[0].Codec != "aac" {
			t.Errorf("%s: %d seconds", name, len(l.got))
		}
		for _, s := range l.got {
			if i := bytes.Index(adts, s.Bytes); i < 0 || len(s.Bytes) < len(adts)/4 || adts[i] != 0xff {
				t.Errorf("%s: %d bytes of %d, at %d", name, len(s.Bytes), len(adts), i)
			}
		}
	}
}

// A second in which bytes are missing is not handed on.
func TestAudioWithAHole(t *testing.T) {
	audio := tone(t, "-ar", "8000", "-ac", "1", "-f", "alaw")
	l := &listening{n: 9}
	d := NewDemuxer(nothing{})
	d.Sounds(l)
	for i, b := range spoken(0x90, audio, 320, 40e6, false) {
		if i == 30 { // in the second second
			d.Missing()
			continue
		}
		d.Feed(b, 5)
	}
	if len(l.got) != 2 || !bytes.Equal(l.got[0].Bytes, audio[:8000]) || !bytes.Equal(l.got[1].Bytes, audio[31*320:31*320+8000]) {
		t.Errorf("%d seconds, or others", len(l.got))
	}
}
