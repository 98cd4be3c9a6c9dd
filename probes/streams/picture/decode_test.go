package picture

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/kernel"
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
			if g, err := Decode(context.Background(), format, b); err == nil || !strings.Contains(err.Error(), "ffmpeg decoded no picture: ") || strings.Contains(err.Error(), "\n") || len(err.Error()) > maxSaid+100 {
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

// A decoder that hangs is killed, and one that is not there is said with its cure.
func TestDecodeOfADecoderThatHangs(t *testing.T) {
	standIn(t, "exec sleep 60")
	begun := time.Now()
	if _, err := Decode(context.Background(), "h264", []byte("x")); err == nil || !strings.Contains(err.Error(), "was killed") || time.Since(begun) > 2*decodeTime {
		t.Errorf("after %s: %v", time.Since(begun), err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := Check(); err == nil || !strings.Contains(err.Error(), "install it") {
		t.Errorf("without it: %v", err)
	}
}

// It has the lowest priority, may write no file, and is not root.
func TestDecodeIsBounded(t *testing.T) {
	standIn(t, "read x", "nice >&2", "ulimit -f >&2", "ulimit -v >&2", "id -u >&2", "exit 1")
	who := os.Geteuid()
	if other := nobody(); other != nil {
		who = int(other.Uid)
	}
	if has, err := kernel.Capabilities("/proc"); err == nil && has.Has(unix.CAP_SETUID) && has.Has(unix.CAP_SETGID) && who == 0 {
		t.Error("it would be root")
	}
	_, err := Decode(context.Background(), "h264", []byte("x\n"))
	if err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf(": 19 0 2097152 %d", who)) {
		t.Errorf("%v", err)
	}
}

// standIn is a script that is called ffmpeg, and that everybody may run.
func standIn(t *testing.T, lines ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "ffmpeg"), []byte("#!/bin/sh\n"+strings.Join(lines, "\n")+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}
