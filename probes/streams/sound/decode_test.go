package sound

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"snag/probes/streams/stream"
)

// coded is a second of a source, as ffmpeg codes it.
func coded(t *testing.T, source, codec string) stream.Sound {
	t.Helper()
	as := map[string][]string{
		"aac": {"-c:a", "aac", "-f", "adts"}, "mp3": {"-c:a", "libmp3lame", "-f", "mp3", "-write_xing", "0", "-id3v2_version", "0"}, "mp2": {"-c:a", "mp2", "-f", "mp2"},
		"ac3": {"-c:a", "ac3", "-f", "ac3"}, "eac3": {"-c:a", "eac3", "-f", "eac3"},
		"pcma": {"-ar", "8000", "-ac", "1", "-f", "alaw"}, "pcmu": {"-ar", "8000", "-ac", "1", "-f", "mulaw"},
	}[codec]
	b, err := exec.Command("ffmpeg", append(append([]string{"-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", source, "-t", "1"}, as...), "-")...).Output()
	if err != nil || len(b) == 0 {
		t.Fatalf("%s: %v, %d bytes", codec, err, len(b))
	}
	return stream.Sound{Codec: codec, SampleRate: 8000, Channels: 1, Bytes: b}
}

// Silence is silent in every codec, and a low tone is not; nor are channels that cancel each other,
// nor a tone that only some hear.
func TestDecode(t *testing.T) {
	quiet := "aevalsrc=0.0032*sin(2*PI*1000*t)" // -50 dBFS
	for _, codec := range []string{"aac", "mp3", "mp2", "ac3", "eac3", "pcma", "pcmu"} {
		if l, err := Decode(context.Background(), coded(t, "anullsrc=r=48000", codec)); err != nil || !l.Silent() {
			t.Errorf("%s: silence is at %.1f dBFS, %v", codec, l.DBFS(), err)
		}
		if l, err := Decode(context.Background(), coded(t, quiet+":s=48000", codec)); err != nil || l.Silent() || l.DBFS() > -45 {
			t.Errorf("%s: a tone at -50 dBFS is at %.1f dBFS, %v", codec, l.DBFS(), err)
		}
		if l, err := Decode(context.Background(), coded(t, "sine=r=48000", codec)); err != nil || l.DBFS() < -24 || l.DBFS() > -12 {
			t.Errorf("%s: a tone at -18 dBFS is at %.1f dBFS, %v", codec, l.DBFS(), err)
		}
	}
	for name, source := range map[string]string{"channels that cancel each other": "aevalsrc=0.1*sin(2*PI*500*t)|-0.1*sin(2*PI*500*t):s=48000", "a tone of 9 kHz": "aevalsrc=0.1*sin(2*PI*9000*t):s=48000"} {
		if l, err := Decode(context.Background(), coded(t, source, "aac")); err != nil || l.DBFS() < -26 {
			t.Errorf("%s: %.1f dBFS, %v", name, l.DBFS(), err)
		}
	}
}

// What is no audio has no level.
func TestDecodeOfNoAudio(t *testing.T) {
	for name, s := range map[string]stream.Sound{
		"nothing": {Codec: "aac"}, "no audio": {Codec: "aac", Bytes: []byte(strings.Repeat("what is this? ", 500))},
		"G.711 of no rate": {Codec: "pcma", Bytes: make([]byte, 8000)}, "another codec": {Codec: "opus", Bytes: []byte("x")},
	} {
		if l, err := Decode(context.Background(), s); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %d, %v", name, l, err)
		}
	}
}
