package rtmp

import (
	"bytes"
	"os/exec"
	"testing"

	"snag/internal/rtmp"
	"snag/probes/streams/codec"
	"snag/probes/streams/flv"
	"snag/probes/streams/stream"
)

// listening is a stream.Sounds that wants as many seconds as it says.
type listening struct {
	n   int
	got []stream.Sound
}

func (l *listening) Wanted() bool { return l.n > 0 }
func (l *listening) Sound(s stream.Sound, _ int64) {
	l.n--
	l.got = append(l.got, s)
}

// film is an FLV file with video and audio, and the audio alone as ffmpeg copies it out of it.
func film(t *testing.T, format string, encoder ...string) (file, audio []byte) {
	t.Helper()
	path := t.TempDir() + "/film.flv"
	argv := append([]string{"-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-f", "lavfi", "-i", "sine=r=44100", "-t", "3", "-c:v", "libx264", "-preset", "ultrafast", "-g", "25"}, encoder...)
	if said, err := exec.Command("ffmpeg", append(argv, path)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	file, err := exec.Command("cat", path).Output()
	if err == nil {
		audio, err = exec.Command("ffmpeg", "-nostdin", "-loglevel", "error", "-i", path, "-c", "copy", "-write_xing", "0", "-id3v2_version", "0", "-f", format, "-").Output()
	}
	if err != nil {
		t.Fatal(err)
	}
	return file, audio
}

// messagesOf are an FLV file's tags as messages.
func messagesOf(file []byte) (out []byte) {
	for b := file[13:]; len(b) > 15; {
		n := int(b[1])<<16 | int(b[2])<<8 | int(b[3])
		m := message(3+b[0]&1, b[0], b[11:11+n])
		copy(m[1:4], b[4:7])
		out = append(out, m...)
		b = b[15+n:]
	}
	return out
}

// Audio is handed on a second at a time, in whole frames, which are those that ffmpeg copies.
func TestAudioIsHandedOn(t *testing.T) {
	for name, c := range map[string]struct {
		format  string
		encoder []string
		want    stream.Sound
	}{
		"AAC":   {"adts", []string{"-c:a", "aac"}, stream.Sound{Codec: "aac"}},
		"MP3":   {"mp3", []string{"-c:a", "libmp3lame"}, stream.Sound{Codec: "mp3", SampleRate: 44100, Channels: 1}},
		"A-law": {"alaw", []string{"-c:a", "pcm_alaw", "-ar", "8000"}, stream.Sound{Codec: "pcma", SampleRate: 8000, Channels: 1}},
		"µ-law": {"mulaw", []string{"-c:a", "pcm_mulaw", "-ar", "8000"}, stream.Sound{Codec: "pcmu", SampleRate: 8000, Channels: 1}},
	} {
		file, want := film(t, c.format, c.encoder...)
		sounds, keys := &listening{n: 2}, &wanting{n: 1}
		p, d := rtmp.NewParser(), Media{Sounds: sounds, Keys: keys}
		p.Sounds, p.Keys = rtmp.Wanting{By: sounds, Most: stream.MostSound}, rtmp.Wanting{By: keys, Most: stream.MostKey}
		sink := &counting{}
		for wire := messagesOf(file); len(wire) > 0; {
			n, m, err := p.Next(wire[:min(len(wire), 333)])
			if err != nil {
				t.Fatal(err)
			}
			if wire = wire[n:]; m != nil {
				d.Message(m, 5, sink)
			}
		}
		if len(sounds.got) != 2 || len(keys.got) != 1 {
			t.Errorf("%s: %d seconds of audio, %d pictures", name, len(sounds.got), len(keys.got))
			continue
		}
		got := append(bytes.Clone(sounds.got[0].Bytes), sounds.got[1].Bytes...)
		if !bytes.HasPrefix(want, got) || len(got) < len(want)*2/3-len(want)/10 {
			t.Errorf("%s: %d bytes of %d, or others", name, len(got), len(want))
		}
		for _, s := range sounds.got {
			if s.Bytes = nil; s.Codec != c.want.Codec || s.SampleRate != c.want.SampleRate || s.Channels != c.want.Channels {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

// Audio of which ADTS can't tell the configuration, and audio that nobody wants, is not kept.
func TestAudioIsNotKept(t *testing.T) {
	config := []byte{0xaf, 0, 0x12, 0}
	frame := append([]byte{0xaf, 1}, make([]byte, 300)...)
	for wants, kept := range map[int]bool{0: false, 1: true} {
		sounds := &listening{n: wants}
		p, d := rtmp.NewParser(), Media{Sounds: sounds}
		p.Sounds = rtmp.Wanting{By: sounds, Most: stream.MostSound}
		for i := range 200 {
			b := message(4, rtmp.TypeAudio, frame)
			if i == 0 {
				b = message(4, rtmp.TypeAudio, config)
			}
			b[2], b[3] = byte(i*20>>8), byte(i*20)
			_, m, err := p.Next(b)
			if err != nil || m == nil {
				t.Fatal(err)
			}
			if (m.Whole != nil) != kept {
				t.Fatalf("wanted %d: %d bytes are kept", wants, len(m.Whole))
			}
			d.Message(m, 5, &counting{})
		}
		if len(sounds.got) > 0 {
			t.Errorf("%d seconds of what can't be told", len(sounds.got))
		}
	}
	if tag, _ := flv.Audio(config, len(config)); !tag.Config {
		t.Error("it was not a configuration")
	}
}

// A picture and audio whose chunks come in turn are both kept.
func TestAudioAmongThePicturesChunks(t *testing.T) {
	keys, sounds := &wanting{n: 1}, &listening{n: 1}
	p := rtmp.NewParser()
	p.Keys, p.Sounds = rtmp.Wanting{By: keys, Most: stream.MostKey}, rtmp.Wanting{By: sounds, Most: stream.MostSound}
	picture := video(6, append([]byte{0x17, 1, 0, 0, 0}, make([]byte, 1000)...))
	audio := message(4, rtmp.TypeAudio, append([]byte{0xaf, 1}, make([]byte, 100)...))
	first := 12 + rtmp.FirstChunkSize
	wire := append(append(bytes.Clone(picture[:first]), audio...), picture[first:]...)
	kept := map[uint8]int{}
	for len(wire) > 0 {
		n, m, err := p.Next(wire)
		if err != nil {
			t.Fatal(err)
		}
		if wire = wire[n:]; m != nil {
			kept[m.Type] = len(m.Whole)
		}
	}
	if kept[rtmp.TypeVideo] != 1005 || kept[rtmp.TypeAudio] != 102 {
		t.Errorf("%d bytes of the picture, %d of the audio are kept", kept[rtmp.TypeVideo], kept[rtmp.TypeAudio])
	}
}

// Enhanced RTMP's AC-3 is handed on as it is.
func TestEnhancedAudioIsHandedOn(t *testing.T) {
	want, err := exec.Command("ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "sine=r=48000", "-t", "2", "-c:a", "ac3", "-f", "ac3", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	sounds := &listening{n: 1}
	p, d := rtmp.NewParser(), Media{Sounds: sounds}
	p.Sounds = rtmp.Wanting{By: sounds, Most: stream.MostSound}
	for i, b := 0, want; len(b) > 0; i++ {
		h, err := codec.DolbyAudio(b)
		if err != nil {
			t.Fatal(err)
		}
		m := message(4, rtmp.TypeAudio, append([]byte("\x91ac-3"), b[:h.Size]...))
		m[2], m[3] = byte(i*32>>8), byte(i*32)
		if _, got, err := p.Next(m); err != nil || got == nil || !d.Message(got, 5, &counting{}) {
			t.Fatal(err)
		}
		b = b[h.Size:]
	}
	if len(sounds.got) != 1 || sounds.got[0].Codec != codec.AC3 || !bytes.HasPrefix(want, sounds.got[0].Bytes) || len(sounds.got[0].Bytes) < len(want)/2-768 {
		t.Errorf("%d seconds, or others", len(sounds.got))
	}
}
