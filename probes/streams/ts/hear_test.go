package ts

import (
	"bytes"
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

// Audio is handed on a second at a time, in whole frames, which are those that ffmpeg copies.
func TestAudioIsHandedOn(t *testing.T) {
	for name, c := range map[string]struct {
		codec, format string
		encoder       []string
	}{
		"AAC":    {"aac", "adts", []string{"-c:a", "aac"}},
		"MP3":    {"mp3", "mp3", []string{"-c:a", "libmp3lame"}},
		"MP2":    {"mp2", "mp2", []string{"-c:a", "mp2"}},
		"AC-3":   {"ac3", "ac3", []string{"-c:a", "ac3"}},
		"E-AC-3": {"eac3", "eac3", []string{"-c:a", "eac3"}},
		"LATM":   {"aac_latm", "latm", []string{"-c:a", "aac", "-mpegts_flags", "latm"}},
	} {
		path := t.TempDir() + "/film.ts"
		argv := append([]string{"-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-f", "lavfi", "-i", "sine=r=48000", "-t", "3", "-c:v", "libx264", "-preset", "ultrafast", "-g", "25"}, c.encoder...)
		if said, err := exec.Command("ffmpeg", append(argv, path)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		file, err := exec.Command("cat", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		want, err := exec.Command("ffmpeg", "-nostdin", "-loglevel", "error", "-i", path, "-map", "0:a", "-c", "copy", "-write_xing", "0", "-id3v2_version", "0", "-f", c.format, "-").Output()
		if err != nil && c.codec != "aac_latm" {
			t.Fatal(err)
		}
		sounds, keys := &listening{n: 2}, &wanting{n: 1}
		d := New(&kept{})
		d.Sounds, d.Keys = sounds, keys
		for b := file; len(b) > 0; b = b[min(len(b), 333):] {
			d.Feed(b[:min(len(b), 333)], 5)
		}
		d.Flush()
		if len(sounds.got) != 2 || len(keys.got) != 1 {
			t.Errorf("%s: %d seconds of audio, %d pictures", name, len(sounds.got), len(keys.got))
			continue
		}
		got := append(bytes.Clone(sounds.got[0].Bytes), sounds.got[1].Bytes...)
		if !bytes.HasPrefix(want, got) || len(got) < len(want)*5/9 {
			t.Errorf("%s: %d bytes of %d, or others", name, len(got), len(want))
		}
		if s := sounds.got[1]; s.Codec != c.codec {
			t.Errorf("%s: of %s", name, s.Codec)
		}
	}
}

// A second of which a packet lacks is not handed on; the next is.
func TestAudioWithAHole(t *testing.T) {
	file, err := exec.Command("ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "sine=r=48000", "-t", "4.3", "-c:a", "ac3", "-b:a", "192k", "-f", "mpegts", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	var whole, holed listening
	whole.n, holed.n = 4, 4
	for l, skip := range map[*listening]int{&whole: -1, &holed: 200} {
		d := New(&kept{})
		d.Sounds = l
		for i, of := 0, 0; i+188 <= len(file); i += 188 {
			if file[i+1] == 1 && file[i+2] == 0 { // within a PES packet of the audio
				of++
			}
			if of == skip {
				of++
				continue
			}
			d.Feed(file[i:i+188], 5)
		}
	}
	if len(whole.got) != 4 || len(holed.got) != 3 {
		t.Fatalf("%d seconds of the whole, %d of that with a hole", len(whole.got), len(holed.got))
	}
	all := bytes.Join([][]byte{whole.got[0].Bytes, whole.got[1].Bytes, whole.got[2].Bytes, whole.got[3].Bytes}, nil)
	for i, s := range holed.got {
		if !bytes.Contains(all, s.Bytes) && i < 2 {
			t.Errorf("second %d is not of the whole", i)
		}
	}
}
