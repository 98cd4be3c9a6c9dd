package gbtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// Film makes a program stream of 25 pictures per second with ffmpeg.
func Film(t *testing.T, seconds int) []byte {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Fatal("ffmpeg is not installed: make setup installs it")
	}
	path := filepath.Join(t.TempDir(), "film.mpg")
	out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25", "-t", strconv.Itoa(seconds),
		"-c:v", "libx264", "-preset", "veryfast", "-g", "25", "-bf", "0", "-b:v", "400k", "-f", "vob", path).CombinedOutput()
	if err != nil {
		t.Fatalf("make a film: %v: %s", err, out)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
