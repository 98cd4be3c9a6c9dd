package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"snag/internal/built"
	"snag/internal/cli"
	"snag/internal/netns/netnstest"
	"snag/lab/origin"
)

// edges are three real nginx on loopback, each started and stopped by its own script, as systemctl would.
type edges struct {
	t         *testing.T
	dir, snag string
}

func newEdges(t *testing.T) *edges {
	t.Helper()
	e := &edges{t, t.TempDir(), ""}
	e.snag = filepath.Join(e.dir, "snag")
	built.Program(t, "snag", e.snag)
	// restart NAME: ends it, waits for its end, starts it, as systemctl restart does.
	e.write("restart", "#!/bin/sh\nset -e\ncd "+e.dir+"/$1\nkill $(cat pid)\nwhile [ -e pid ]; do sleep 0.05; done\nexec nginx -p . -c conf\n")
	if err := os.Chmod(filepath.Join(e.dir, "restart"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 3; i++ {
		e.listenAt(i, 8080+i)
		if out, err := exec.Command("nginx", "-p", filepath.Join(e.dir, edge(i)), "-c", "conf").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	t.Cleanup(func() {
		for i := 1; i <= 3; i++ {
			_ = syscall.Kill(e.pid(i), syscall.SIGTERM)
		}
	})
	return e
}

func edge(i int) string { return fmt.Sprintf("edge-%d", i) }

func (e *edges) write(name, text string) {
	e.t.Helper()
	path := filepath.Join(e.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		e.t.Fatal(err)
	}
}

func (e *edges) listenAt(i, port int) {
	here := filepath.Join(e.dir, edge(i))
	e.write(edge(i)+"/conf", fmt.Sprintf("pid %[1]s/pid;\nerror_log %[1]s/errors;\nworker_processes 1;\nevents { worker_connections 100; }\nhttp { access_log off; keepalive_timeout 60s; server { listen 127.0.0.1:%[2]d; return 200 ok; } }\n", here, port))
}

// pid of an edge's nginx; 0: there is none.
func (e *edges) pid(i int) int {
	text, _ := os.ReadFile(filepath.Join(e.dir, edge(i), "pid"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// clients keep a connection to each edge that is in service, and leave one that is out after a second. Connections
// that an edge ended are counted.
func (e *edges) clients() (cut *atomic.Int32) {
	stop := make(chan struct{})
	var running sync.WaitGroup
	var answered atomic.Int32
	cut = &atomic.Int32{}
	for i := 1; i <= 3; i++ {
		running.Go(func() {
			for {
				c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", 8080+i))
				if err == nil && !e.keep(c, i, stop, &answered) {
					cut.Add(1)
				}
				select {
				case <-stop:
					return
				case <-time.After(50 * time.Millisecond):
				}
			}
		})
	}
	e.t.Cleanup(func() { close(stop); running.Wait() })
	within(e.t, "the clients are answered", func() bool { return answered.Load() > 30 })
	return cut
}

// keep asks over a connection until its edge is taken out of service. It is false if the edge ended it.
func (e *edges) keep(c net.Conn, i int, stop chan struct{}, answered *atomic.Int32) bool {
	defer c.Close()
	b := make([]byte, 4096)
	for {
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			return false
		}
		if _, err := c.Read(b); err != nil {
			return false
		}
		answered.Add(1)
		out := filepath.Join(e.dir, "out-"+edge(i))
		if _, err := os.Stat(out); err == nil {
			time.Sleep(time.Second)
			_ = c.Close()
			for err == nil {
				time.Sleep(20 * time.Millisecond)
				_, err = os.Stat(out)
			}
			return true
		}
		select {
		case <-stop:
			return true
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (e *edges) plan(health string) string {
	text := "version: 1\nbatch: 1\npeers:\n"
	for i := 1; i <= 3; i++ {
		text += fmt.Sprintf("  - {name: %s, address: \"127.0.0.1:%d\"}\n", edge(i), 8080+i)
	}
	e.write("plan.yaml", text+`drain: [{run: [touch, "`+e.dir+`/out-{name}"]}]
leave: {connections: "{address}", timeout: 20s}
restart: [{run: ["`+e.dir+`/restart", "{name}"]}]
ready: {http: {url: "http://{address}/"}, timeout: 2s}
return: [{run: [rm, "`+e.dir+`/out-{name}"]}]
health: {`+health+`, every: 200ms, settle: 500ms, limit: 2s, unknown: 2s}
`)
	return filepath.Join(e.dir, "plan.yaml")
}

// run runs snag drain, and gives what it printed and its exit code.
func (e *edges) run(args ...string) (string, int) {
	e.t.Helper()
	cmd := exec.Command(e.snag, append([]string{"drain"}, args...)...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		e.t.Fatal(err)
	}
	e.t.Logf("snag drain %s: exit %d\n%s", strings.Join(args, " "), cmd.ProcessState.ExitCode(), out)
	return string(out), cmd.ProcessState.ExitCode()
}

const siteCheck = `checks: [{name: site, http: {url: "http://127.0.0.1:8083/", status: 200}}]`

// Connections leave, each nginx is restarted and comes back, and no client's connection is cut.
func TestDrainOfThreeNginx(t *testing.T) {
	if netnstest.Alone(t) {
		return
	}
	e := newEdges(t)
	before := [3]int{e.pid(1), e.pid(2), e.pid(3)}
	cut := e.clients()
	path := e.plan(`checks: [{name: shell, run: ["true"]}]`)
	// This process is the client: of snag's own connections none counts.
	if n, err := established("127.0.0.1:8081"); n != 0 || err != nil {
		t.Errorf("%d connections of snag's own are counted (%v)", n, err)
	}
	out, code := e.run(path)
	if code != 0 || !strings.Contains(out, "DONE: 3 peers") || strings.Count(out, "1 connection: waiting") != 3 || strings.Count(out, "leave    0 connections") != 3 {
		t.Errorf("exit %d", code)
	}
	for i := 1; i <= 3; i++ {
		if pid := e.pid(i); pid == 0 || pid == before[i-1] {
			t.Errorf("%s was not restarted: %d, before %d", edge(i), pid, before[i-1])
		}
	}
	if n := cut.Load(); n > 0 {
		t.Errorf("%d connections were cut", n)
	}
}

// The second nginx does not come back: the drain stops, names it, and does not touch the third. Repaired, it goes on.
func TestDrainStopsAtAnNginxThatDoesNotComeBack(t *testing.T) {
	if netnstest.Alone(t) {
		return
	}
	e := newEdges(t)
	e.clients()
	path := e.plan(siteCheck)
	e.listenAt(2, 9999)
	before := [3]int{e.pid(1), e.pid(2), e.pid(3)}
	out, code := e.run(path)
	if code != cli.ExitCulprit || !strings.Contains(out, "STOPPED in batch 2 of 3, ready of edge-2: it did not come back within 2s: ask http://127.0.0.1:8082/: connection refused\n") ||
		!strings.Contains(out, "out of service: edge-2\n  not restarted: edge-3\n") {
		t.Errorf("exit %d", code)
	}
	if e.pid(1) == before[0] || e.pid(3) != before[2] {
		t.Errorf("%d %d, before %v", e.pid(1), e.pid(3), before)
	}
	if _, err := os.Stat(filepath.Join(e.dir, "out-edge-2")); err != nil {
		t.Error("a peer that does not answer was returned to service")
	}
	if out, code := e.run(path); code != cli.ExitUsage || !strings.Contains(out, "go on with --resume") {
		t.Errorf("exit %d", code)
	}
	e.listenAt(2, 8082)
	_ = exec.Command(filepath.Join(e.dir, "restart"), "edge-2").Run()
	out, code = e.run(path, "--resume")
	if code != 0 || strings.Contains(out, "edge-1") || strings.Contains(out, "edge-2       restart") || !strings.Contains(out, "edge-3       restart") {
		t.Errorf("exit %d", code)
	}
}

// kill -9 of snag while a restart runs: the restart goes on, snag asks about it, and nothing is restarted twice.
func TestDrainIsKilledInARestart(t *testing.T) {
	if netnstest.Alone(t) {
		return
	}
	e := newEdges(t)
	e.write("slow", "#!/bin/sh\nsleep 1\n"+e.dir+"/restart $1\necho $1 >>"+e.dir+"/restarted\n")
	if err := os.Chmod(filepath.Join(e.dir, "slow"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := e.plan(siteCheck)
	text, _ := os.ReadFile(path)
	e.write("plan.yaml", strings.Replace(string(text), "/restart\"", "/slow\"", 1))
	cmd := exec.Command(e.snag, "drain", path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	within(t, "the first restart begins", func() bool {
		text, _ := os.ReadFile(path + ".journal")
		return strings.Contains(string(text), `"will","peer":"edge-1","phase":"restart"`)
	})
	if out, code := e.run(path, "--resume"); code != cli.ExitFailed || !strings.Contains(out, "a drain of this plan is running") {
		t.Errorf("a second one beside it: exit %d", code)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	restarted := func() string {
		text, _ := os.ReadFile(filepath.Join(e.dir, "restarted"))
		return strings.Join(strings.Fields(string(text)), " ")
	}
	within(t, "the restart goes on without snag", func() bool { return restarted() == "edge-1" })
	if out, code := e.run(path, "--resume"); code != cli.ExitUsage || !strings.Contains(out, "it is not known whether this ended: edge-1, restart 1: "+e.dir+"/slow edge-1; check edge-1") {
		t.Errorf("exit %d", code)
	}
	if _, code := e.run(path, "--resume", "--skip"); code != 0 || restarted() != "edge-1 edge-2 edge-3" {
		t.Errorf("exit %d, %s", code, restarted())
	}
}

// A stream that ends while a peer is restarted is harm, and the evidence is named.
func TestDrainStopsWhenAWatchedStreamEnds(t *testing.T) {
	dir, snag, server, here := aloneAtServer(t)
	if !here {
		return
	}
	publisher := publishFilm(t, server, "film", "null", inH264...)
	e := &edges{t, dir, snag}
	within(t, "it is published", func() bool {
		out, _ := comparing(t, snag, "watch", "--for", "3s", "--plain", origin.URL(server, "film"))
		return strings.Contains(out, "first frame after")
	})
	e.write("plan.yaml", `version: 1
batch: 1
peers: [{name: a, address: "127.0.0.1:1"}, {name: b, address: "127.0.0.1:2"}]
restart: [{run: [kill, "`+strconv.Itoa(publisher.Process.Pid)+`"]}]
health: {streams: ["`+origin.URL(server, "film")+`"], every: 200ms, settle: 15s}
`)
	out, code := e.run(filepath.Join(dir, "plan.yaml"))
	if code != cli.ExitCulprit || !strings.Contains(out, "healthy: 1 stream") || !strings.Contains(out, "STOPPED in batch 1 of 2: stream ") || !strings.Contains(out, "not restarted: b\n") {
		t.Errorf("exit %d", code)
	}
}
