package rtmp

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const nginxModule = "/usr/lib/nginx/modules/ngx_rtmp_module.so"

// nginx starts an nginx-rtmp of the test's own.
func nginx(t *testing.T) (address string, process *os.Process) {
	t.Helper()
	if _, err := os.Stat(nginxModule); err != nil {
		t.Fatal("no nginx with the RTMP module: make setup installs it")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	dir := t.TempDir()
	conf := strings.NewReplacer("MODULE", nginxModule, "DIR", dir, "LISTEN", address).Replace(`load_module MODULE;
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
        application live { live on; }
        application strict { live on; idle_streams off; }
    }
}
`)
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("nginx", "-p", dir, "-c", filepath.Join(dir, "nginx.conf"), "-e", filepath.Join(dir, "error.log"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	for range 250 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address, cmd.Process
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("nginx does not listen")
	return "", nil
}

// film is 3 s of 25 frames/s with audio, as ffmpeg makes it.
func film(t *testing.T) File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "film.flv")
	argv := strings.Fields("-nostdin -loglevel error -f lavfi -i testsrc=size=320x180:rate=25 -f lavfi -i sine=sample_rate=44100 -t 3 -c:v libx264 -preset ultrafast -g 25 -b:v 200k -threads 1 -pix_fmt yuv420p -c:a aac")
	if said, err := exec.Command("ffmpeg", append(argv, path)...).CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, said)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFile(b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Publishers and players of a real server: the file goes round, each player has the stream's frames, and a server
// that stands still for 1.5 s is a freeze for all of them.
func TestLiveNginx(t *testing.T) {
	address, process := nginx(t)
	to, err := Parse("rtmp://" + address + "/live/cam")
	if err != nil {
		t.Fatal(err)
	}
	p := plan(to)
	p.Publishers, p.Players, p.File, p.For, p.Timeout = 2, 4, film(t), 5*time.Second, 5*time.Second
	if d := p.File.Length(); d < 2900*time.Millisecond || d > 3100*time.Millisecond {
		t.Fatalf("the film lasts %v", d)
	}
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range r.Players {
		// It joins within half a second, and may wait a second for a key frame.
		if got.Outcome != "" || got.Frames < 85 || got.Frames > 150 || got.Freezes != 0 || got.Own < 24.9 || got.Own > 25.1 || got.FirstFrame <= 0 || got.FirstFrame > 2*time.Second || got.Sound {
			t.Errorf("player %d: %+v", i, got)
		}
	}
	for i, got := range r.Publishers {
		if got.Outcome != "" || got.Stream != fmt.Sprintf("cam-%d", i+1) || got.Sent < int64(4.5*p.File.Rate()) || got.Worst > time.Second {
			t.Errorf("publisher %d: %+v", i, got)
		}
	}

	p.Publishers, p.Players, p.For = 1, 3, 5*time.Second
	time.AfterFunc(2*time.Second, func() {
		_ = process.Signal(syscall.SIGSTOP)
		time.Sleep(1500 * time.Millisecond)
		_ = process.Signal(syscall.SIGCONT)
	})
	if r, err = Run(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	for i, got := range r.Players {
		if got.Freezes != 1 || got.Frozen < 1300*time.Millisecond || got.Frames < 80 {
			t.Errorf("player %d of a server that stopped: %+v", i, got)
		}
	}

	strict := p
	if strict.Target, err = Parse("rtmp://" + address + "/strict/nobody"); err != nil {
		t.Fatal(err)
	}
	strict.Publishers, strict.Players, strict.For = 0, 2, time.Second
	if _, err := Run(context.Background(), strict); err == nil || !strings.Contains(err.Error(), "no session was accepted: refused: NetStream.Play.StreamNotFound") {
		t.Error(err)
	}
}
