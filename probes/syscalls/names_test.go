package syscalls

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/probes/probe/probetest"
	"snag/recording"
)

// fdWith finds a row of a descriptor.
func fdWith(r *recording.Recording, ok func(recording.FD) bool) *recording.FD {
	for i := range r.FDs {
		if ok(r.FDs[i]) {
			return &r.FDs[i]
		}
	}
	return nil
}

// noSecret fails where a row holds what was not to be kept.
func noSecret(t *testing.T, r *recording.Recording, secrets ...string) {
	t.Helper()
	text := fmt.Sprintf("%+v %+v", r.FDs, r.Events)
	for _, s := range secrets {
		if strings.Contains(text, s) {
			t.Errorf("the recording holds %q", s)
		}
	}
}

// freePort is an address that nobody listens at.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestShortConnectionsAndTheirRequests(t *testing.T) {
	p := run(t, "serve")
	address := freePort(t)
	p.tell(address)
	for _, peek := range []int{0, 64} {
		sink := probetest.NewSink()
		e := env(t, sink, p.cmd.Process.Pid)
		e.Peek = peek
		r := begin(t, e)
		for range 5 {
			req, err := http.NewRequest("GET", "http://"+address+"/live/x.m3u8?token=hunter2", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Close = true
			req.Header.Set("Cookie", "session=topsecret")
			answer, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
		r.Stop()
		rec := sink.Recording()
		noSecret(t, rec, "hunter2", "topsecret")
		conn := fdWith(rec, func(f recording.FD) bool { return f.Proto == "tcp" && f.Local == address && f.Remote != "" })
		if conn == nil {
			t.Fatalf("--peek %d: no row of a connection to %s: %+v", peek, address, rec.FDs)
		}
		named := fdWith(rec, func(f recording.FD) bool { return f.Carries == "GET /live/x.m3u8 HTTP/1.1" })
		if c := coverageOf(t, rec, measurePeek); peek == 0 && (named != nil || c.State != recording.CoverageOff) || peek > 0 && (named == nil || c.State != recording.CoverageOK) {
			t.Errorf("--peek %d: %+v; %+v", peek, c, rec.FDs)
		}
	}
}

const nginxModule = "/usr/lib/nginx/modules/ngx_rtmp_module.so"

func TestNameOfAPublishedStream(t *testing.T) {
	if _, err := os.Stat(nginxModule); err != nil {
		t.Fatal("no nginx with the RTMP module: make setup installs it")
	}
	address, dir := freePort(t), t.TempDir()
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf("load_module %s;\ndaemon off;\nmaster_process off;\npid %s/nginx.pid;\nerror_log %s/error.log error;\nevents { worker_connections 64; }\nrtmp { access_log off; server { listen %s; application live { live on; } } }\n",
		nginxModule, dir, dir, address)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		return cmd
	}
	server := start("nginx", "-p", dir, "-c", conf, "-e", filepath.Join(dir, "error.log"))
	for range 250 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	sink := probetest.NewSink()
	e := env(t, sink, server.Process.Pid)
	e.Peek = 64
	r := begin(t, e)
	publisher := start("ffmpeg", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "sine", "-c:a", "aac", "-t", "8", "-f", "flv", "rtmp://"+address+"/live/cam1?key=hunter2")
	for range 100 {
		time.Sleep(100 * time.Millisecond)
		if fdWith(sink.Recording(), func(f recording.FD) bool { return strings.HasPrefix(f.Carries, "RTMP publish") }) != nil {
			break
		}
	}
	r.Stop()
	rec := sink.Recording()
	noSecret(t, rec, "hunter2")
	got := fdWith(rec, func(f recording.FD) bool { return f.Carries == "RTMP publish live/cam1" })
	if got == nil {
		t.Fatalf("no descriptor carries the stream: %+v", rec.FDs)
	}
	if got.Local != address || got.PeerPID != publisher.Process.Pid || got.PeerComm != "ffmpeg" {
		t.Errorf("%+v, want the peer %d", *got, publisher.Process.Pid)
	}
}
