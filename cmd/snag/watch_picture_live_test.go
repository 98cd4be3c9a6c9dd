package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/lab/origin"
)

// Films at a real server, and one as MPEG-TS with HEVC: one turns black, one is a still picture of
// a constant frame rate, and one is a film.
func TestWatchLooksAtPictures(t *testing.T) {
	dir, snag, server, here := aloneAtServer(t)
	if !here {
		return
	}
	out := filepath.Join(dir, "out")
	hook, of := told(t)
	_, port, _ := strings.Cut(loopback(t), ":")
	udp := "udp://127.0.0.1:" + port
	black := "drawbox=color=black:t=fill:enable='between(t,12,34)'"
	argv := []string{"watch", "--json", "--picture", "--picture-every", "2s", "--webhook", hook, udp + " name=hevc"}
	for name, filter := range map[string]string{"black": black, "still": "geq=lum='mod(X*3+Y*5,200)':cb=128:cr=128", "film": "null"} {
		publishFilm(t, server, name, filter, inH264...)
		argv = append(argv, origin.URL(server, name)+" name="+name)
	}
	beside(t, "ffmpeg", "-nostdin", "-loglevel", "quiet", "-re", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-vf", black, "-c:v", "libx265", "-preset", "ultrafast",
		"-x265-params", "log-level=none:pools=1:frame-threads=1", "-g", "50", "-pix_fmt", "yuv420p", "-t", "120", "-f", "mpegts", udp+"?pkt_size=1316")
	cmd := exec.Command(snag, argv...)
	stderr := printing(t, cmd, out)
	for begun := time.Now(); time.Since(begun) < 70*time.Second && (len(of("hevc")) < 2 || len(of("black")) < 2 || len(of("still")) < 1); {
		time.Sleep(200 * time.Millisecond)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	said, err := os.ReadFile(out)
	if err != nil || stderr.Len() > 0 {
		t.Errorf("%v, %s", err, stderr)
	}
	for stream, want := range map[string][]string{
		"black": {"black-picture", "well"}, "hevc": {"black-picture", "well"}, "still": {"picture-frozen"}, "film": nil,
	} {
		if got := of(stream); !slices.Equal(got, want) {
			t.Errorf("%s: told %q, want %q", stream, got, want)
		}
	}
	for _, text := range []string{`"event":"black-picture"`, `"event":"picture-frozen"`, `"picture":"ok"`, `"picture":"black-picture"`} {
		if !strings.Contains(string(said), text) {
			t.Errorf("it did not say %s", text)
		}
	}
	if strings.Contains(string(said), "not measured") {
		t.Errorf("a picture was not measured:\n%s", said)
	}
	for line := range strings.SplitSeq(string(said), "\n") {
		if strings.Contains(line, `"type":"event"`) && strings.Contains(line, "picture") {
			t.Log(line)
		}
	}
}
