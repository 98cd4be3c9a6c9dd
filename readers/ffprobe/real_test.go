package ffprobe

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"snag/recording"
)

// TestRealOutput reads what ffprobe writes of one file in each of its ways: a picture of
// 25 frames per second whose clock goes on by 2 s more at its tenth second.
func TestRealOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cam.mkv")
	out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=20",
		"-f", "lavfi", "-i", "sine=duration=20", "-vf", "setpts='PTS+gte(N,250)*2/TB'", "-fps_mode", "passthrough",
		"-c:v", "mpeg4", "-c:a", "mp2", file).CombinedOutput()
	if err != nil {
		t.Fatalf("ffmpeg: %v\n%s", err, out)
	}
	for _, args := range []string{
		"-of compact -show_packets", "-of csv -show_packets", "-of default -show_packets", "-of json -show_packets", "-of json=c=1 -show_packets",
		"-of compact -show_frames", "-of csv -show_frames", "-of default -show_frames", "-of json -show_frames", "-of json -show_packets -show_frames",
	} {
		cmd := exec.Command("ffprobe", append(append([]string{"-v", "error"}, strings.Fields(args)...), file)...)
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("ffprobe %s: %v", args, err)
		}
		_, r := readText(t, string(text))
		missing, others := 0.0, 0
		for _, e := range r.Events {
			switch {
			case e.Kind == recording.EventStreamSkipped && e.Attrs["kind"] == "":
				missing += e.Value
			case e.Kind != recording.EventStreamChanged:
				others++
			}
		}
		if missing < 48 || missing > 52 || others > 0 && !strings.Contains(args, "packets -show_frames") {
			t.Errorf("%s: %g frames are missing by its clock; events %+v", args, missing, r.Events)
		}
	}
}
