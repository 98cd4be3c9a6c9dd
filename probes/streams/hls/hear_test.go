package hls

import (
	"bytes"
	"os/exec"
	"testing"

	"snag/probes/streams/stream"
)

// listening is a stream.Sounds that wants as many seconds as it says.
type listening struct {
	n   int
	got []stream.Sound
}

func (l *listening) Wanted() bool                  { return len(l.got) < l.n }
func (l *listening) Sound(s stream.Sound, _ int64) { l.got = append(l.got, s) }

// Segments of bare audio are handed on a second at a time, in whole frames; where their samples are
// encrypted they are not.
func TestBareAudioIsHandedOn(t *testing.T) {
	for codec, argv := range map[string][]string{"aac": {"-c:a", "aac", "-f", "adts"}, "ac3": {"-c:a", "ac3", "-f", "ac3"}, "mp3": {"-c:a", "libmp3lame", "-write_xing", "0", "-id3v2_version", "0", "-f", "mp3"}} {
		want, err := exec.Command("ffmpeg", append(append([]string{"-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "sine=r=48000", "-t", "3"}, argv...), "-")...).Output()
		if err != nil {
			t.Fatal(err)
		}
		for sealed, seconds := range map[bool]int{false: 2, true: 0} {
			l := &listening{n: 2}
			m := newMedia(&kept{})
			m.handOn(stream.Options{Sounds: l})
			m.packed.sealed = sealed
			m.begin(false)
			for b := want; len(b) > 0; b = b[min(len(b), 333):] {
				m.feed(b[:min(len(b), 333)], 5)
			}
			var got []byte
			for _, s := range l.got {
				if got = append(got, s.Bytes...); s.Codec != codec {
					t.Errorf("%s: of %s", codec, s.Codec)
				}
			}
			if len(l.got) != seconds || !bytes.HasPrefix(want, got) || !sealed && len(got) < len(want)*5/9 {
				t.Errorf("%s, encrypted %v: %d seconds, %d bytes of %d, or others", codec, sealed, len(l.got), len(got), len(want))
			}
		}
	}
}

// A playlist tells that samples are encrypted.
func TestEncryptedSamplesAreTold(t *testing.T) {
	for method, want := range map[string]bool{"NONE": false, "SAMPLE-AES,URI=\"k\"": true, "AES-128,URI=\"k\"": false} {
		p, err := parse([]byte("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-KEY:METHOD=" + method + "\n#EXTINF:2,\na.aac\n"))
		if err != nil || p.sealed != want {
			t.Errorf("%s: %v, %v", method, p, err)
		}
	}
}
