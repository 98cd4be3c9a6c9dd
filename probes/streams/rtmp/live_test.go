package rtmp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/stream"
)

const nginxModule = "/usr/lib/nginx/modules/ngx_rtmp_module.so"

// run starts a program that ends with the test.
func run(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	var said strings.Builder
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s said: %s", name, said.String())
		}
	})
	return cmd
}

// nginx starts an nginx-rtmp of the test's own. Application "live" lets players
// in before there is a publisher, "strict" does not; at small the chunks are of
// 128 bytes.
func nginx(t *testing.T) (address, small string) {
	t.Helper()
	if _, err := os.Stat(nginxModule); err != nil {
		t.Fatal("no nginx with the RTMP module: make setup installs it")
	}
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Fatal("no ffmpeg: make setup installs it")
	}
	var free [2]net.Listener
	for i, to := range []*string{&address, &small} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		free[i], *to = l, l.Addr().String()
	}
	free[0].Close()
	free[1].Close()
	dir := t.TempDir()
	conf := filepath.Join(dir, "nginx.conf")
	text := strings.NewReplacer("MODULE", nginxModule, "DIR", dir, "LISTEN", address, "SMALL", small).Replace(`load_module MODULE;
daemon off;
master_process off;
pid DIR/nginx.pid;
error_log DIR/error.log error;
events { worker_connections 256; }
rtmp {
    access_log off;
    server {
        listen LISTEN;
        ping 1s;
        chunk_size 4096;
        application live { live on; }
        application strict { live on; idle_streams off; publish_notify on; }
    }
    server {
        listen SMALL;
        chunk_size 128;
        application live { live on; }
    }
}
`)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "nginx", "-p", dir, "-c", conf, "-e", filepath.Join(dir, "error.log"))
	for range 250 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address, small
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("nginx does not listen")
	return "", ""
}

// publish sends a test picture of 25 fps with a key frame each second and two B
// frames between, and a tone.
func publish(t *testing.T, url string, seconds int, more ...string) *exec.Cmd {
	t.Helper()
	args := []string{"-nostdin", "-hide_banner", "-loglevel", "error", "-re",
		"-f", "lavfi", "-i", "testsrc=size=320x180:rate=25", "-f", "lavfi", "-i", "sine=sample_rate=44100",
		"-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "25", "-sc_threshold", "0", "-b:v", "200k", "-threads", "1", "-pix_fmt", "yuv420p",
		"-c:a", "aac", "-b:a", "64k", "-ac", "2", "-t", fmt.Sprint(seconds)}
	return run(t, "ffmpeg", append(append(args, more...), "-f", "flv", url)...)
}

type reading struct {
	name string
	sink *seen
	err  error
	took time.Duration
}

func TestLiveNginx(t *testing.T) {
	address, small := nginx(t)
	cert := authority(t)
	secure, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, secure, func(c net.Conn) { relay(c, address) })

	var refused *stream.Refused
	err = openAt(t, context.Background(), "rtmp://"+address+"/strict/nobody", &seen{}, stream.Options{})
	if !errors.As(err, &refused) || !strings.Contains(refused.Why, "NetStream.Play.StreamNotFound") {
		t.Errorf("a stream that nobody publishes, where players must not wait: %v", err)
	}
	if err := openAt(t, context.Background(), "rtmp://"+address+"/nothing/x", &seen{}, stream.Options{}); err == nil || !strings.Contains(err.Error(), "connect to the application nothing") {
		t.Errorf("an application that is not there: %v", err)
	}

	// Players before the publisher, then a publisher of 4 s.
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	done := make(chan reading)
	begin := time.Now()
	play := func(name, url string, every time.Duration) {
		sink := &seen{}
		err := openAt(t, ctx, url, sink, stream.Options{Every: every})
		done <- reading{name, sink, err, time.Since(begin)}
	}
	go play("at once", "rtmp://"+address+"/live/cam1?token=x", 0)
	go play("every 40 ms", "rtmp://"+address+"/live/cam1", 40*time.Millisecond)
	go play("TLS, every 40 ms", "rtmps://"+secure.Addr().String()+"/live/cam1", 40*time.Millisecond)
	go play("chunks of 128 bytes, extended timestamps", "rtmp://"+small+"/live/cam2", 40*time.Millisecond)
	time.Sleep(300 * time.Millisecond)
	publish(t, "rtmp://"+address+"/live/cam1", 4)
	publish(t, "rtmp://"+small+"/live/cam2", 4, "-output_ts_offset", "17000") // over 2^24 ms
	for range 4 {
		r := <-done
		var ended *stream.Ended
		if !errors.As(r.err, &ended) {
			t.Errorf("%s: after %v: %v, want the end of the stream", r.name, r.took, r.err)
		}
		check(t, r.name, r.sink)
		late := r.sink.frames[0].DTS >= 1<<24*1e6
		if late != strings.Contains(r.name, "extended") {
			t.Errorf("%s: the first DTS is %d ns", r.name, r.sink.frames[0].DTS)
		}
	}
}

func relay(c net.Conn, address string) {
	up, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer up.Close()
	go func() { io.Copy(up, c); up.Close() }()
	io.Copy(c, up)
}

// check knows what publish sends.
func check(t *testing.T, name string, sink *seen) {
	t.Helper()
	if sink.published != 1 {
		t.Errorf("%s: published %d times", name, sink.published)
	}
	var video, audio []stream.Frame
	keys, composed := 0, 0
	for _, f := range sink.frames {
		if f.Kind == stream.Audio {
			audio = append(audio, f)
			continue
		}
		video = append(video, f)
		if f.Key {
			keys++
		}
		if f.PTS > f.DTS {
			composed++
		}
	}
	if len(video) < 60 || len(audio) < 100 || keys < 3 || keys > 5 || composed < len(video)/2 {
		t.Fatalf("%s: %d pictures, %d of them key frames, %d composed later, %d blocks of sound", name, len(video), keys, composed, len(audio))
	}
	span := float64(video[len(video)-1].DTS-video[0].DTS) / 1e9
	if fps := float64(len(video)-1) / span; math.Abs(fps-25) > 0.3 {
		t.Errorf("%s: %.2f fps by DTS, want 25", name, fps)
	}
	wall := float64(video[len(video)-1].Arrival-video[0].Arrival) / 1e9
	if wall < span*0.6 || wall > span*1.6 {
		t.Errorf("%s: %.2f s of stream came in %.2f s", name, span, wall)
	}
	last := map[stream.Kind]stream.Params{}
	for _, p := range sink.params {
		last[p.Kind] = p
	}
	if p := last[stream.Video]; p != (stream.Params{Kind: stream.Video, Codec: "h264", Width: 320, Height: 180, FPS: 25}) {
		t.Errorf("%s: video is %+v", name, p)
	}
	if p := last[stream.Audio]; p != (stream.Params{Kind: stream.Audio, Codec: "aac", SampleRate: 44100, Channels: 2}) {
		t.Errorf("%s: audio is %+v", name, p)
	}
}
