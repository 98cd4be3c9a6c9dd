package streams

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/counterpart"
	"snag/probes/streams/stream"
)

// blind takes what a reader gives, and keeps nothing.
type blind struct{ frames int }

func (b *blind) Published(int64, string, string) {}
func (b *blind) Frame(stream.Frame)              { b.frames++ }
func (b *blind) Params(stream.Params)            {}
func (b *blind) Count(stream.Count, uint64)      {}
func (b *blind) Gauge(stream.Gauge, float64)     {}

// programs of other protocols, each at an address of its own.
func programs(t *testing.T) map[string]string {
	t.Helper()
	at := map[string]string{}
	own := func(name string) string {
		at[name] = fmt.Sprintf("127.0.0.1:%d", counterpart.Port(t))
		return at[name]
	}
	dir := t.TempDir()
	_, port, _ := strings.Cut(own("redis"), ":")
	// Debian's redis-check-rdb is redis-server, by the name that it is called.
	redis := exec.Command(counterpart.Installed(t, "redis-check-rdb", "redis-tools"), "--bind", "127.0.0.1", "--port", port, "--save", "", "--dir", dir)
	redis.Args[0] = "redis-server"
	counterpart.Start(t, redis)
	made := exec.Command(counterpart.Installed(t, "dropbearkey", "dropbear-bin"), "-t", "ed25519", "-f", filepath.Join(dir, "host.key"))
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("make a host key: %v: %s", err, out)
	}
	counterpart.Run(t, counterpart.Installed(t, "dropbear", "dropbear-bin"), "-F", "-E", "-r", filepath.Join(dir, "host.key"), "-p", own("ssh"), "-P", filepath.Join(dir, "dropbear.pid"))
	o := startOrigin(t)
	at["http"], at["rtmp"] = o.http, o.rtmp
	at["tls"] = counterpart.Stunnel(t, o.http, selfSigned(t, dir))
	for _, address := range at {
		counterpart.Await(t, address)
	}
	return at
}

// selfSigned makes a certificate that nobody trusts, and its key, in one file.
func selfSigned(t *testing.T, dir string) string {
	t.Helper()
	key, cert := filepath.Join(dir, "key.pem"), filepath.Join(dir, "cert.pem")
	made := exec.Command(counterpart.Installed(t, "openssl", "openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
		"-nodes", "-days", "2", "-subj", "/CN=unknown", "-keyout", key, "-out", cert)
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("make a certificate: %v: %s", err, out)
	}
	var both []byte
	for _, name := range []string{key, cert} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, b...)
	}
	path := filepath.Join(dir, "both.pem")
	if err := os.WriteFile(path, both, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A URL with the port of something else: the error says what answers there, and
// soon. The programs are real ones.
func TestPortsOfOtherProtocols(t *testing.T) {
	at := programs(t)
	for _, c := range []struct{ url, want string }{
		{"rtmp://http/live/x", "HTTP, not RTMP"},
		{"rtmp://ssh/live/x", "SSH, not RTMP"},
		{"rtmp://redis/live/x", "is the port for RTMP"},
		{"rtmp://tls/live/x", "not for RTMPS?"},
		{"rtmps://http/live/x", "does not speak TLS"},
		{"rtmps://ssh/live/x", "does not speak TLS"},
		{"rtmps://redis/live/x", "RTMP"},
		{"rtmps://rtmp/live/x", "TLS"},
		{"rtmps://tls/live/x", "certificate"},
		{"rtsp://http/x", "it speaks HTTP, not RTSP"},
		{"rtsp://ssh/x", "does not speak RTSP"},
		{"rtsp://redis/x", "does not speak RTSP"},
		{"rtsp://tls/x", "not for RTSPS?"},
		{"rtsp://rtmp/x", "is this an RTSP server?"},
		{"rtsps://http/x", "does not speak TLS here"},
		{"rtsps://tls/x", "certificate"},
		{"http://ssh/x.m3u8", "not an HTTP server"},
		{"http://redis/x.m3u8", "is this port for HTTP"},
		{"http://tls/x.m3u8", "not for HTTPS?"},
		{"http://rtmp/x.m3u8", "is the port for HTTP?"},
		{"http://http/x.m3u8", "the server refused: 40"},
		{"https://http/x.m3u8", "use http://"},
		{"https://ssh/x.m3u8", "use http://"},
		{"https://tls/x.m3u8", "certificate"},
		{"http://ssh/x.ts", "not an HTTP server"},
		{"rtmp://no-such-host.invalid/live/x", "is the host's name right?"},
		{"rtsp://no-such-host.invalid/x", "is the host's name right?"},
		{"https://no-such-host.invalid/x.m3u8", "is the host's name right?"},
		{"rtmp://[::1]:1/live/x", "nothing listens there"},
		{"rtsp://[::1]:1/x", "does a server listen there"},
		{"http://[::1]:1/x.m3u8", "nothing listens there"},
	} {
		t.Run(c.url, func(t *testing.T) {
			t.Parallel()
			u, err := url.Parse(c.url)
			if err != nil {
				t.Fatal(err)
			}
			if at[u.Host] != "" {
				u.Host = at[u.Host]
			}
			read, err := Open(u)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
			defer cancel()
			sink, began := &blind{}, time.Now()
			err = read(ctx, u, sink, stream.Options{Now: func() int64 { return int64(time.Since(began)) }, Timeout: time.Second})
			t.Logf("after %s: %v", time.Since(began).Round(time.Millisecond), err)
			if err == nil || !strings.Contains(err.Error(), c.want) || ctx.Err() != nil || sink.frames > 0 {
				t.Errorf("%v, %d frames, want %q", err, sink.frames, c.want)
			}
		})
	}
}
