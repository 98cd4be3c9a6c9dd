package main

import (
	"bytes"
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
	said := untilSaid(t, cmd, out, stderr, 70*time.Second, func() bool { return len(of("hevc")) >= 2 && len(of("black")) >= 2 && len(of("still")) >= 1 },
		`"event":"black-picture"`, `"event":"picture-frozen"`, `"picture":"ok"`, `"picture":"black-picture"`)
	for stream, want := range map[string][]string{
		"black": {"black-picture", "well"}, "hevc": {"black-picture", "well"}, "still": {"picture-frozen"}, "film": nil,
	} {
		if got := of(stream); !slices.Equal(got, want) {
			t.Errorf("%s: told %q, want %q", stream, got, want)
		}
	}
	if strings.Contains(said, "not measured") {
		t.Errorf("a picture was not measured:\n%s", said)
	}
	for line := range strings.SplitSeq(said, "\n") {
		if strings.Contains(line, `"type":"event"`) && strings.Contains(line, "picture") {
			t.Log(line)
		}
	}
}

// untilSaid lets a watch run until what was awaited came, or for that long, ends it as Ctrl-C does, and
// returns what it printed: each of texts.
func untilSaid(t *testing.T, cmd *exec.Cmd, out string, stderr *bytes.Buffer, most time.Duration, came func() bool, texts ...string) (said string) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < most && !came(); {
		time.Sleep(200 * time.Millisecond)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	b, err := os.ReadFile(out)
	if err != nil || stderr.Len() > 0 {
		t.Errorf("%v, %s", err, stderr)
	}
	for _, text := range texts {
		if !strings.Contains(string(b), text) {
			t.Errorf("it did not say %s", text)
		}
	}
	return string(b)
}

// oneSuffers has a watch look at two films at a server, of which the one that is named has a trouble
// for a while: it is an alarm that ends, and the other has none.
func oneSuffers(t *testing.T, name, alarm string, most time.Duration, troubled, film []string, texts ...string) {
	t.Helper()
	dir, snag, server, here := aloneAtServer(t)
	if !here {
		return
	}
	out := filepath.Join(dir, "out")
	hook, of := told(t)
	publishFilm(t, server, name, "null", append(slices.Clone(inH264), troubled...)...)
	publishFilm(t, server, "film", "null", append(slices.Clone(inH264), film...)...)
	cmd := exec.Command(snag, "watch", "--json", "--picture", "--picture-every", "2s", "--webhook", hook, origin.URL(server, name)+" name="+name, origin.URL(server, "film")+" name=film")
	stderr := printing(t, cmd, out)
	said := untilSaid(t, cmd, out, stderr, most, func() bool { return len(of(name)) >= 2 }, texts...)
	if got := of(name); !slices.Equal(got, []string{alarm, "well"}) {
		t.Errorf("%s: told %q", name, got)
	}
	if got := of("film"); len(got) > 0 {
		t.Errorf("film: told %q", got)
	}
	if strings.Contains(said, "not measured") || t.Failed() {
		t.Errorf("it said:\n%s", said)
	}
}
