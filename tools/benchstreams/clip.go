package main

import (
	"fmt"
	"os/exec"
)

// makeClip makes 20 s of video and AAC that take that many kb/s together.
func makeClip(path string, kbps int) error {
	source, gop, audio := "testsrc2=size=320x180:rate=25", "50", 48
	if kbps >= 1000 {
		source, gop, audio = "testsrc2=size=1280x720:rate=30", "60", 96
	}
	video := fmt.Sprintf("%dk", kbps-audio)
	out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-f", "lavfi", "-i", "sine",
		"-c:v", "libx264", "-preset", "ultrafast", "-b:v", video, "-maxrate", video, "-bufsize", video, "-g", gop, "-pix_fmt", "yuv420p",
		"-c:a", "aac", "-b:a", fmt.Sprintf("%dk", audio), "-t", "20", path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("make the clip with ffmpeg: %w: %s", err, out)
	}
	return nil
}
