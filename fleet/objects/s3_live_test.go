package objects

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// gateway is Versity's S3 gateway over a folder.
type gateway struct {
	program, dir, addr string
	running            *exec.Cmd
}

// aGateway starts one with a bucket named "bucket".
func aGateway(t *testing.T) *gateway {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{program: filepath.Join(cache, "snag/objects/versitygw"), dir: t.TempDir(), addr: freeAddr(t)}
	if _, err := os.Stat(g.program); err != nil {
		t.Skip("no versitygw, an S3 server: make setup builds it")
	}
	g.start(t)
	t.Cleanup(g.stop)
	b := g.bucket(t, "bucket").(*bucket)
	resp, err := b.ask(t.Context(), "make the bucket", call{method: http.MethodPut, hash: hashOfNothing})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return g
}

func (g *gateway) start(t *testing.T) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	g.running = exec.Command(g.program, "--port", g.addr, "--health", "/health", "posix", g.dir)
	g.running.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+keysInEnv("AWS_ACCESS_KEY_ID"), "ROOT_SECRET_KEY="+keysInEnv("AWS_SECRET_ACCESS_KEY"))
	g.running.Stdout, g.running.Stderr = log, log
	if err := g.running.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "that versitygw answers", func() bool {
		resp, err := http.Get("http://" + g.addr + "/health")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

func (g *gateway) stop() {
	_ = g.running.Process.Kill()
	_ = g.running.Wait()
}

// bucket opens a bucket of it.
func (g *gateway) bucket(t *testing.T, name string) Store {
	t.Helper()
	return openAt(t, name, "http://"+g.addr, keysInEnv)
}

func openAt(t *testing.T, name, endpoint string, env func(string) string) Store {
	t.Helper()
	s, err := Open(Where{URL: "s3://" + name, Endpoint: endpoint, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// What was put is what is read and listed, below a prefix and in more than one page.
func TestARealServer(t *testing.T) {
	g := aGateway(t)
	s := g.bucket(t, "bucket/fleet/eu")
	for _, what := range []string{"before", "afterwards"} {
		if err := s.Put(t.Context(), aName, strings.NewReader(what), int64(len(what))); err != nil || text(t, s, aName) != what {
			t.Fatalf("%v: %q", err, text(t, s, aName))
		}
	}
	if b, err := os.ReadFile(filepath.Join(g.dir, "bucket/fleet/eu", aName)); err != nil || string(b) != "afterwards" {
		t.Errorf("%q, %v", b, err)
	}
	const many = 1100
	for id := range many {
		dir := filepath.Join(g.dir, "bucket/fleet/eu", nameOf("web2", anIncident(id, "")))
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, documentFile), []byte("{}"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := List(t.Context(), s, "")
	if err != nil || len(found) != many || found[0].ID != 0 || found[many-1].ID != many-1 {
		t.Errorf("%d incidents, %v", len(found), err)
	}
	if found, err := List(t.Context(), g.bucket(t, "bucket"), ""); err != nil || len(found) != 0 {
		t.Errorf("above the prefix: %d incidents, %v", len(found), err)
	}
	if err := s.Put(t.Context(), aName, strings.NewReader("cut"), 10); err == nil || text(t, s, aName) != "afterwards" {
		t.Errorf("%v: %q", err, text(t, s, aName))
	}
}

// A large recording is read from the disk piece by piece.
func TestALargeRecording(t *testing.T) {
	const size = 96 << 20
	s := aGateway(t).bucket(t, "bucket")
	file, err := os.Create(filepath.Join(t.TempDir(), "recording.snag"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(size); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := s.Put(t.Context(), aName, file, size); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
		t.Errorf("it took %d MB of memory", took>>20)
	}
	r, err := s.Get(t.Context(), aName)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, err := io.Copy(io.Discard, r); err != nil || n != size {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// The real server's answers to what is wrong lead to a cure, without a secret in them.
func TestWhatIsWrongWithARealServer(t *testing.T) {
	g := aGateway(t)
	for what, c := range map[string]struct {
		store Store
		want  string
	}{
		"no bucket": {g.bucket(t, "none"), "make the bucket none, or correct the URL"},
		"no key":    {openAt(t, "bucket", "http://"+g.addr, with("AWS_ACCESS_KEY_ID", "nobody", "AWS_SECRET_ACCESS_KEY", "s3cret")), "the store does not know this access key"},
		"no secret": {openAt(t, "bucket", "http://"+g.addr, with("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY", "wr0ng")), "the secret is not this access key's"},
		"no clock":  {openAt(t, "bucket", g.earlier(t, time.Hour), keysInEnv), "this host's clock and the store's differ"},
		"no region": {openAt(t, "bucket", "http://"+g.addr, with("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY", "s3cret", "AWS_REGION", "eu-west-3")), "the region us-east-1: give it with --incidents-region"},
	} {
		err := c.store.Put(t.Context(), aName, strings.NewReader("a"), 1)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
		t.Logf("%s: %v", what, err)
	}
}

// earlier is a proxy that dates requests back, as a host does whose clock is late.
func (g *gateway) earlier(t *testing.T, by time.Duration) string {
	t.Helper()
	to := &url.URL{Scheme: "http", Host: g.addr}
	server := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
		at, err := time.Parse("20060102T150405Z", r.In.Header.Get("X-Amz-Date"))
		if err != nil {
			t.Error(err)
		}
		then := at.Add(-by)
		r.Out.Header.Set("X-Amz-Date", then.Format("20060102T150405Z"))
		r.Out.Header.Set("Authorization", strings.ReplaceAll(r.In.Header.Get("Authorization"), at.Format("20060102"), then.Format("20060102")))
	}})
	t.Cleanup(server.Close)
	return server.URL
}

// A server that is down for a while gets all incidents, once each.
func TestARealServerThatIsDown(t *testing.T) {
	g := aGateway(t)
	r := newRing(t)
	for id := range 4 {
		r.keep(anIncident(id+1, "packet-loss"), strings.Repeat("recording", 10_000))
	}
	g.stop()
	s, n := aSender(g.bucket(t, "bucket"), r, func(p *Plan) { p.first = 20 * time.Millisecond })
	stop := running(t, s)
	await(t, "several tries", func() bool { return s.Counts().Failed > 2 })
	if c := s.Counts(); c.Sent != 0 || c.Waiting != 4 || len(n.said()) != 1 || !strings.Contains(n.said()[0], "connection refused; recording goes on") {
		t.Errorf("%+v, %q", c, n.said())
	}
	g.start(t)
	await(t, "four incidents", func() bool { return s.Counts().Sent >= 4 })
	time.Sleep(50 * time.Millisecond)
	stop()
	found, err := List(t.Context(), g.bucket(t, "bucket"), "")
	if c := s.Counts(); err != nil || len(found) != 4 || c.Sent != 4 || c.Lost != 0 || c.Waiting != 0 {
		t.Errorf("%+v, %v, %+v", found, err, c)
	}
	d, err := Read(t.Context(), g.bucket(t, "bucket"), found[3].Name)
	if err != nil || d.ID != 4 || d.Culprits[0].Name != "packet-loss" {
		t.Errorf("%+v, %v", d, err)
	}
}

// kill -9 in the middle of an upload leaves nothing that is seen, and the next one is whole.
func TestKilledWhileAnObjectIsSent(t *testing.T) {
	g := aGateway(t)
	addr, sent := throughProxy(t, g.addr)
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": keysInEnv("AWS_ACCESS_KEY_ID"), "AWS_SECRET_ACCESS_KEY": keysInEnv("AWS_SECRET_ACCESS_KEY")} {
		t.Setenv(name, value)
	}
	killInTheMiddle(t, "s3://bucket", "http://"+addr, func() bool { return sent() > 200<<10 })
	s := g.bucket(t, "bucket")
	if got := text(t, s, aName); !strings.Contains(got, "NoSuchKey") {
		t.Errorf("half of it is seen: %d bytes", len(got))
	}
	if err := s.List(t.Context(), "", func(name string) bool { t.Errorf("%s is listed", name); return true }); err != nil {
		t.Error(err)
	}
	if err := s.Put(t.Context(), aName, strings.NewReader("whole"), 5); err != nil || text(t, s, aName) != "whole" {
		t.Errorf("%v", err)
	}
}

// throughProxy passes connections on and counts what clients send.
func throughProxy(t *testing.T, to string) (addr string, sent func() int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var n atomic.Int64
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			go func() { defer out.Close(); _, _ = io.Copy(out, io.TeeReader(in, counter{&n})) }()
			go func() { defer in.Close(); _, _ = io.Copy(in, out) }()
		}
	}()
	return l.Addr().String(), n.Load
}

type counter struct{ n *atomic.Int64 }

func (c counter) Write(b []byte) (int, error) { c.n.Add(int64(len(b))); return len(b), nil }

// What a store refuses is refused before its bytes are sent, where it can be asked that (Expect: 100-continue).
func TestARefusalCostsLittle(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, xmlError("NoSuchBucket", "it is not there", ""))
	}))
	defer server.Close()
	addr, sent := throughProxy(t, strings.TrimPrefix(server.URL, "http://"))
	s := openAt(t, "none", "http://"+addr, keysInEnv)
	large := strings.Repeat("x", 8<<20)
	err := s.Put(t.Context(), aName, strings.NewReader(large), int64(len(large)))
	if err == nil || !strings.Contains(err.Error(), "make the bucket none") {
		t.Fatal(err)
	}
	if n := sent(); n > 4<<10 {
		t.Errorf("%d bytes were sent for: %v", n, err)
	}
}
