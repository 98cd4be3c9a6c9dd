package rtsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/stream"
)

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// await listens in the background, and returns once somebody may come.
func await(t *testing.T, port int, sink stream.Sink, timeout time.Duration) <-chan error {
	t.Helper()
	u, err := url.Parse(fmt.Sprintf("rtsp-listen://127.0.0.1:%d/cam", port))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- Listen(context.Background(), u, sink, stream.Options{Timeout: timeout}) }()
	for range 200 {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = c.Close() // somebody who says nothing: it waits on
			return done
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it does not listen")
	return nil
}

// ffmpeg publishes three seconds and says goodbye.
func TestFFmpegPublishes(t *testing.T) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Fatal("ffmpeg is not installed: make setup installs it")
	}
	port := freePort(t)
	sink := &taken{}
	done := await(t, port, sink, 10*time.Second)
	out, err := exec.Command("ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25", "-f", "lavfi", "-i", "sine=r=44100", "-t", "3",
		"-c:v", "libx264", "-preset", "veryfast", "-g", "25", "-bf", "2", "-c:a", "aac", "-f", "rtsp", "-rtsp_transport", "tcp", fmt.Sprintf("rtsp://127.0.0.1:%d/cam", port)).CombinedOutput()
	if err != nil {
		t.Errorf("ffmpeg: %v: %s", err, out)
	}
	err = <-done
	var ended *stream.Ended
	if !errors.As(err, &ended) || !strings.Contains(err.Error(), "TEARDOWN") {
		t.Errorf("%v", err)
	}
	v, a := sink.of(stream.Video), sink.of(stream.Audio)
	if len(v) != 75 || len(a) < 125 || len(a) > 133 || sink.counts != [stream.Counts]uint64{} {
		t.Fatalf("%d pictures of 75, %d blocks of sound, counts %v", len(v), len(a), sink.counts)
	}
	sink.notes = nil // of the one who said nothing
	for i := 1; i < len(v); i++ {
		if d := time.Duration(v[i].DTS - v[i-1].DTS); (d - 40*time.Millisecond).Abs() > 50*time.Microsecond {
			t.Fatalf("step of %s at picture %d", d, i)
		}
	}
}

func TestListenErrors(t *testing.T) {
	port := freePort(t)
	sink := &taken{}
	done := await(t, port, sink, time.Second)
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, "DESCRIBE rtsp://h/cam RTSP/1.0\r\nCSeq: 1\r\n\r\n"+
		fmt.Sprintf("ANNOUNCE rtsp://h/another RTSP/1.0\r\nCSeq: 2\r\nContent-Length: %d\r\n\r\n%s", len(sdpText), sdpText))
	said, _ := io.ReadAll(c)
	if !strings.Contains(string(said), "405 Method") || !strings.Contains(string(said), "404 Not Found") {
		t.Errorf("%s", said)
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "nobody published there") {
		t.Errorf("%v", err)
	}
	if n := strings.Join(sink.notes, "\n"); !strings.Contains(n, `it published "another"`) {
		t.Errorf("notes %s", n)
	}
}
