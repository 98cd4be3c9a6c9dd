package load

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"snag/load/protocol"
)

// behind is what nghttpx asks over HTTP/1.1: answers take 50 ms and have 100,000 bytes.
type behind struct {
	*httptest.Server
	open     most
	answered atomic.Int64
	body     atomic.Int64 // bytes of the last request
}

func newBehind(t *testing.T) *behind {
	b := &behind{}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.open.enter()
		defer b.open.leave()
		n, _ := io.Copy(io.Discard, r.Body)
		b.body.Store(n)
		time.Sleep(50 * time.Millisecond)
		if r.URL.Path == "/error" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write(make([]byte, 100_000))
		b.answered.Add(1)
	}))
	t.Cleanup(b.Close)
	return b
}

// freePort is a port of the loopback interface that nobody has for now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// nghttpx runs the proxy before b, in the clear or over TLS, and returns its URL.
func nghttpx(t *testing.T, b *behind, overTLS bool, options ...string) (url string, proxy *os.Process) {
	t.Helper()
	path, err := exec.LookPath("nghttpx")
	if err != nil {
		t.Skip("nghttpx is not installed: make setup installs it")
	}
	address, scheme, front := fmt.Sprintf("127.0.0.1:%d", freePort(t)), "http", ";no-tls"
	var with []string
	if overTLS {
		scheme, front = "https", ""
		with = keyFiles(t)
	}
	args := append([]string{"--conf=/dev/null", "--errorlog-file=/dev/null", "--no-ocsp", "--workers=1",
		"--frontend=" + strings.Replace(address, ":", ",", 1) + front,
		"--backend=" + strings.Replace(b.Listener.Addr().String(), ":", ",", 1)}, options...)
	cmd := exec.Command(path, append(args, with...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with the workers that it forks
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it ends its workers, and waits for them
		group := time.AfterFunc(5*time.Second, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		_ = cmd.Wait()
		group.Stop()
	})
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return scheme + "://" + address, cmd.Process
		}
	}
	t.Fatal("nghttpx does not listen after 10 s")
	return "", nil
}

// keyFiles are a key and a certificate for nghttpx.
func keyFiles(t *testing.T) []string {
	t.Helper()
	own, err := protocol.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	key, certificate := filepath.Join(t.TempDir(), "key.pem"), filepath.Join(t.TempDir(), "certificate.pem")
	der, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{key: {Type: "PRIVATE KEY", Bytes: der}, certificate: {Type: "CERTIFICATE", Bytes: own.Certificate[0]}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{key, certificate}
}

// Several requests on one connection to nghttpx: with bodies in both directions that need its flow control, in the
// clear and over TLS, and with errors.
func TestSeveralRequestsOfNghttpx(t *testing.T) {
	t.Parallel()
	for _, overTLS := range []bool{false, true} {
		b := newBehind(t)
		url, _ := nghttpx(t, b, overTLS)
		for _, tt := range []struct {
			path string
			body int
		}{{"/", 0}, {"/", 300_000}, {"/error", 0}} {
			before := b.answered.Load()
			p := plan(target(t, url+tt.path, Request{HTTP2: true, Insecure: true, Data: strings.Repeat("x", tt.body)}))
			p.Rate, p.Conns, p.Streams, p.Timeout = 60, 1, 30, 5*time.Second
			r, err := Run(context.Background(), p)
			if err != nil {
				t.Fatal(err)
			}
			failed := int64(0)
			if tt.path == "/error" {
				failed = r.Done
			}
			if r.Done != r.Sent || r.Sent < 50 || r.Failed != failed || len(r.Lost) > 0 || r.Open < 2.5 || len(r.Locals.Ports) != 1 {
				t.Errorf("TLS %v, %+v: %d sent, %d answered, %d errors, lost %v, %.1f open", overTLS, tt, r.Sent, r.Done, r.Failed, r.Lost, r.Open)
			}
			if n := b.answered.Load() - before; n != r.Done || b.body.Load() != int64(tt.body) || b.open.highest.Load() < 3 {
				t.Errorf("TLS %v, %+v: the server answered %d, and %d were counted; bodies of %d bytes", overTLS, tt, n, r.Done, b.body.Load())
			}
		}
	}
}

func TestTheLimitOfNghttpx(t *testing.T) {
	t.Parallel()
	b := newBehind(t)
	url, _ := nghttpx(t, b, false, "--frontend-http2-max-concurrent-streams=4")
	p := plan(target(t, url+"/", Request{HTTP2: true}))
	p.Rate, p.Conns, p.Streams = 200, 1, 30
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if l := r.Streams.Limit; l == nil || *l != 4 || r.Streams.Waited < 20 || r.Done != r.Sent || !r.Lossless() || b.open.highest.Load() > 4 {
		t.Errorf("limit %v, %+v, %d of %d answered, %d errors, lost %v, %d open at the server", l, r.Streams, r.Done, r.Sent, r.Failed, r.Lost, b.open.highest.Load())
	}
}

// SIGHUP has nghttpx start new workers; the old ones end their connections (GOAWAY). What they took is answered, and
// the rest goes over the next connection.
func TestNghttpxIsReplaced(t *testing.T) {
	t.Parallel()
	b := newBehind(t)
	url, proxy := nghttpx(t, b, false)
	p := plan(target(t, url+"/", Request{HTTP2: true}))
	p.Rate, p.Conns, p.Streams, p.For, p.Timeout = 100, 2, 30, 3*time.Second, 5*time.Second
	time.AfterFunc(time.Second, func() { _ = proxy.Signal(syscall.SIGHUP) })
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Done != r.Sent || r.Sent < 290 || !r.Lossless() || r.Closed < 2 {
		t.Errorf("%d sent, %d answered, %d errors, %d closed, lost %v, %+v", r.Sent, r.Done, r.Failed, r.Closed, r.Lost, r.Streams)
	}
	if n := b.answered.Load(); n != r.Done {
		t.Errorf("the server answered %d, and %d were counted", n, r.Done)
	}
}
