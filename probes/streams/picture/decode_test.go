package picture

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
)

// coded is one key picture of a source, as ffmpeg codes it.
func coded(t *testing.T, source, format, encoder string, more ...string) []byte {
	t.Helper()
	b, err := exec.Command("ffmpeg", append(append([]string{"-nostdin", "-loglevel", "quiet", "-f", "lavfi", "-i", source, "-frames:v", "1", "-pix_fmt", "yuv420p", "-c:v", encoder}, more...), "-f", format, "-")...).Output()
	if err != nil || len(b) == 0 {
		t.Fatalf("%s: %v, %d bytes", encoder, err, len(b))
	}
	return b
}

func TestDecode(t *testing.T) {
	for format, encoder := range map[string]string{"h264": "libx264", "hevc": "libx265"} {
		film := coded(t, "testsrc2=size=640x360", format, encoder)
		g, err := Decode(context.Background(), format, film)
		if err != nil || len(g.Grey) != fullPoints || g.Black() || g.Plain() || g.Garbled {
			t.Errorf("%s: %v, %d points, garbled %v", format, err, len(g.Grey), g.Garbled)
		}
		again, err := Decode(context.Background(), format, coded(t, "testsrc2=size=640x360,noise=alls=2:allf=t", format, encoder))
		if err != nil || !Alike(g.Grey, again.Grey) {
			t.Errorf("%s: the same with noise: %v", format, err)
		}
		if g, err := Decode(context.Background(), format, coded(t, "color=black:size=640x360", format, encoder)); err != nil || !g.Black() {
			t.Errorf("%s: black: %v", format, err)
		}
		if g, err := Decode(context.Background(), format, coded(t, "color=blue:size=640x360", format, encoder)); err != nil || !g.Plain() {
			t.Errorf("%s: blue: %v", format, err)
		}
		for name, b := range map[string][]byte{"nothing": nil, "no picture": []byte(strings.Repeat("what is this? ", 500)), "its beginning only": film[:60]} {
			if g, err := Decode(context.Background(), format, b); err == nil || !strings.Contains(err.Error(), "ffmpeg decoded no picture: ") || strings.Contains(err.Error(), "\n") || len(err.Error()) > 2148 {
				t.Errorf("%s: %s: %d points, %v", format, name, len(g.Grey), err)
			}
		}
	}
}

// A picture whose bytes are damaged, or of which slices are missing, is garbled; ffmpeg tells so of
// H.264.
func TestDecodeOfAGarbledPicture(t *testing.T) {
	film := coded(t, "testsrc2=size=640x360", "h264", "libx264", "-slices", "4")
	starts := bytes.Split(film, []byte{0, 0, 1})
	last := len(film) - len(starts[len(starts)-1])
	damaged := bytes.Clone(film)
	for i := 1; i < 4; i++ {
		damaged[last-i*400] ^= 0x55
	}
	for name, c := range map[string]struct {
		b    []byte
		want bool
	}{"whole": {film, false}, "damaged": {damaged, true}, "without its last slice": {film[:last-4], true}, "its last slice cut short": {film[:last+100], true}} {
		if p, err := Decode(context.Background(), "h264", c.b); err != nil || p.Garbled != c.want {
			t.Errorf("%s: garbled %v, %v", name, p.Garbled, err)
		}
	}
}
