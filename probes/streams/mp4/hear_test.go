package mp4

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
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

// heardOf are the seconds of a file that comes in pieces.
func heardOf(t *testing.T, all []byte, piece, wants int) *listening {
	t.Helper()
	l := &listening{n: wants}
	r := New(&kept{})
	r.Sounds, r.Keys = l, &wanting{n: 1}
	for b := all; len(b) > 0; b = b[min(piece, len(b)):] {
		if err := r.Feed(bytes.Clone(b[:min(piece, len(b))]), 1); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// Audio is handed on a second at a time, in whole frames, which are those that ffmpeg copies, in
// whatever pieces the file comes; what is encrypted, or not wanted, is not.
func TestAudioIsHandedOn(t *testing.T) {
	for codec, c := range map[string]struct {
		format  string
		encoder []string
	}{
		"aac": {"adts", []string{"-c:a", "aac"}}, "mp3": {"mp3", []string{"-c:a", "libmp3lame"}}, "ac3": {"ac3", []string{"-c:a", "ac3"}},
	} {
		made := func(name string, more ...string) (path string, b []byte) {
			path = filepath.Join(t.TempDir(), name)
			argv := append([]string{"-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25", "-f", "lavfi", "-i", "sine=r=48000", "-t", "3", "-c:v", "libx264", "-preset", "ultrafast", "-g", "10"}, c.encoder...)
			if said, err := exec.Command("ffmpeg", append(append(argv, more...), "-movflags", "frag_keyframe+delay_moov+default_base_moof", path)...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return path, b
		}
		path, all := made("film.mp4")
		want, err := exec.Command("ffmpeg", "-nostdin", "-v", "error", "-i", path, "-map", "0:a", "-c", "copy", "-write_xing", "0", "-id3v2_version", "0", "-f", c.format, "-").Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range []int{1, 7, 1000, len(all)} {
			l := heardOf(t, all, piece, 2)
			var got []byte
			for _, s := range l.got {
				if got = append(got, s.Bytes...); s.Codec != codec {
					t.Errorf("%s: of %s", codec, s.Codec)
				}
			}
			if len(l.got) != 2 || !bytes.HasPrefix(want, got) || len(got) < len(want)*5/9 {
				t.Errorf("%s in pieces of %d: %d seconds, %d bytes of %d, or others", codec, piece, len(l.got), len(got), len(want))
			}
		}
		if l := heardOf(t, all, 1000, 0); len(l.got) > 0 {
			t.Errorf("%s: nobody wants it", codec)
		}
		_, sealed := made("sealed.mp4", "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", "00112233445566778899aabbccddeeff", "-encryption_kid", "00112233445566778899aabbccddeeff")
		if l := heardOf(t, sealed, 1000, 2); len(l.got) > 0 {
			t.Errorf("%s: %d seconds of what is encrypted", codec, len(l.got))
		}
	}
}
