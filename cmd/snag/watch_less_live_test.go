package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/internal/built"
	"snag/internal/cli"
	"snag/internal/netns/netnstest"
	"snag/lab/origin"
)

// rtmpServer starts nginx-rtmp in dir and returns its address.
func rtmpServer(t *testing.T, dir string) string {
	t.Helper()
	server, conf := loopback(t), filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(conf, []byte(origin.Config(dir, server)), 0o644); err != nil {
		t.Fatal(err)
	}
	beside(t, "nginx", "-p", dir, "-c", conf, "-e", filepath.Join(dir, "error.log"))
	within(t, "nginx listens", func() bool {
		c, err := net.Dial("tcp", server)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return server
}

// publishFilm publishes a film to it under the filter's name; the filter changes its picture.
func publishFilm(t *testing.T, server, name, filter string, codec ...string) *exec.Cmd {
	t.Helper()
	argv := []string{"ffmpeg", "-nostdin", "-loglevel", "quiet", "-re", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-vf", filter, "-fps_mode", "vfr"}
	argv = append(argv, codec...)
	return beside(t, append(argv, "-threads", "1", "-g", "50", "-pix_fmt", "yuv420p", "-t", "120", "-f", "flv", origin.URL(server, name))...)
}

var inH264 = []string{"-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-crf", "28"}

// told takes what a webhook gets: the stream's name and the event.
func told(t *testing.T) (url string, of func(stream string) []string) {
	t.Helper()
	var mu sync.Mutex
	posts := map[string][]string{}
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var p struct {
			Streams []struct{ Event, Stream string }
		}
		if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, s := range p.Streams {
			posts[s.Stream] = append(posts[s.Stream], s.Event)
		}
	}))
	t.Cleanup(hook.Close)
	return hook.URL, func(stream string) []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(posts[stream])
	}
}

// aloneAtServer builds snag into a folder and starts a server of RTMP, in a namespace of the test's
// own: its ports of loopback are nobody else's. Without here the test ran in another process.
// Such tests wait for most of their time, beside each other and beside the other parallel ones.
func aloneAtServer(t *testing.T) (dir, snag, server string, here bool) {
	t.Helper()
	if err := origin.Check(); err != nil {
		t.Fatal(err)
	}
	t.Parallel()
	if netnstest.Alone(t) {
		return "", "", "", false
	}
	dir = t.TempDir()
	snag = filepath.Join(dir, "snag")
	built.Program(t, "snag", snag)
	return dir, snag, rtmpServer(t, dir), true
}

// Of films at a real server one turns black, one loses each second frame, and one only its noise.
func TestWatchTellsWhatAStreamLacks(t *testing.T) {
	dir, snag, server, here := aloneAtServer(t)
	if !here {
		return
	}
	out := filepath.Join(dir, "out")
	argv := []string{"watch", "--json", "--list", filepath.Join(dir, "cams.txt")}
	list := ""
	for name, filter := range map[string]string{
		"black":   "drawbox=color=black:t=fill:enable='between(t,22,40)'",
		"half":    "select='not(between(t,22,40))+not(mod(n,2))'",
		"quieter": "noise=alls=6:allf=t:enable='lt(t,22)'",
		"film":    "null",
	} {
		publishFilm(t, server, name, filter, inH264...)
		list += origin.URL(server, name) + " name=" + name + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "cams.txt"), []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	hook, of := told(t)
	cmd := exec.Command(snag, append(argv, "--webhook", hook)...)
	stderr := printing(t, cmd, out)
	begun := time.Now()
	for len(of("half")) < 2 || len(of("black")) < 2 {
		if time.Since(begun) > 65*time.Second {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	for stream, want := range map[string][]string{
		"black": {"bit-rate-fell", "well"}, "half": {"frame-rate-fell", "well"}, "quieter": nil, "film": nil,
	} {
		if got := of(stream); !slices.Equal(got, want) {
			t.Errorf("%s: told %q, want %q", stream, got, want)
		}
	}
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitCulprit || stderr.Len() > 0 {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	said, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(said), "\n") {
		if strings.Contains(line, "-fell\"") && strings.Contains(line, `"type":"event"`) {
			t.Log(line)
		}
	}
}
