package labtest

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netns"

	"snag/lab"
	"snag/readers"
	"snag/readers/sides"
	"snag/recording"
	"snag/verdict"
)

func TestMain(m *testing.M) { Main(m) }

// inNetns calls do in a namespace: sockets that it opens stay there.
func inNetns(t *testing.T, name string, do func() error) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends in the other namespace
		h, err := netns.GetFromName(name)
		if err == nil {
			err = netns.Set(h)
			h.Close()
		}
		if err == nil {
			err = do()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatalf("in namespace %s: %v", name, err)
	}
}

// rows is a sink that keeps what it is given.
type rows struct{ recording.Recording }

func (r *rows) Sample(recording.Time, string, recording.Labels, float64) {}
func (r *rows) Append(row recording.Row)                                 { r.Add(row) }

const (
	bothEndsConns = 24
	requestsEach  = 8
	stalledOne    = 4 // of a connection's requests
	stalledFor    = 600 * time.Millisecond
)

// TestBothEndsCaptured captures 24 connections at both ends, over a relay with delay
// and a router between that drops one way of some for a while, and a server that holds
// a request of others back: each stall must be found on its side.
func TestBothEndsCaptured(t *testing.T) {
	s := Stage(t)
	c, r, b := s.Netns("client"), s.Netns("router"), s.Netns("server")
	relay := s.Actor("", "path", "tun-relay", []string{"--a", c + "/wan0/10.78.8.1/24", "--b", r + "/wan0/10.78.8.2/24", "--delay", "4ms", "--jitter", "2ms"})
	s.AwaitPrinted(relay, "ready")
	s.Veth(lab.End{Netns: r, Device: "eth0", Addr: "10.78.9.1/24"}, lab.End{Netns: b, Device: "eth0", Addr: "10.78.9.2/24"})
	s.Command(r, "sysctl", "-qw", "net.ipv4.ip_forward=1")
	s.Command(b, "ip", "route", "add", "default", "via", "10.78.9.1")
	s.Command(c, "ip", "route", "add", "default", "via", "10.78.8.2")
	s.Nft(r, `table ip way {
	set out { type inet_service; }
	set back { type inet_service; }
	chain forward {
		type filter hook forward priority 0;
		tcp dport 8080 tcp sport @out drop
		tcp sport 8080 tcp dport @back drop
	}
}`)
	files := [2]string{filepath.Join(s.Dir(), "client.pcap"), filepath.Join(s.Dir(), "server.pcap")}
	var taps []*lab.Process
	for i, at := range []struct{ ns, device string }{{c, "wan0"}, {b, "eth0"}} {
		tap := s.Run(at.ns, "tcpdump", []string{"tcpdump", "-U", "--immediate-mode", "-s", "160", "--time-stamp-precision=nano", "-Z", "root", "-i", at.device, "-w", files[i], "tcp port 8080"})
		taps = append(taps, tap)
		s.AwaitPrinted(tap, "listening on")
	}
	var l net.Listener
	inNetns(t, b, func() (err error) {
		l, err = net.Listen("tcp", "10.78.9.2:8080")
		return err
	})
	defer l.Close()
	go serveStalls(l)
	drop := func(set string, port int, on bool) {
		verb := map[bool]string{true: "add", false: "delete"}[on]
		s.Nft(r, fmt.Sprintf("%s element ip way %s { %d }", verb, set, port))
	}
	var wg sync.WaitGroup
	var drops sync.Mutex // a stage runs one command at a time
	for i := range bothEndsConns {
		var conn net.Conn
		inNetns(t, c, func() (err error) {
			conn, err = (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(10, 78, 8, 1), Port: 41000 + i}}).Dial("tcp", "10.78.9.2:8080")
			return err
		})
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer conn.Close()
			for k := range requestsEach {
				time.Sleep(time.Duration(40+10*(i%7)) * time.Millisecond)
				path := "page?stall=0"
				set := ""
				if k == stalledOne {
					switch i % 3 {
					case 0:
						path = "page?stall=1"
					case 1:
						set = "out"
					case 2:
						set = "back"
					}
				}
				if set != "" {
					drops.Lock()
					drop(set, 41000+i, true)
					drops.Unlock()
					time.AfterFunc(stalledFor, func() {
						drops.Lock()
						drop(set, 41000+i, false)
						drops.Unlock()
					})
				}
				if err := askFor(conn, path, i); err != nil {
					t.Errorf("connection %d: %v", i, err)
					return
				}
			}
		}()
	}
	wg.Wait()
	time.Sleep(200 * time.Millisecond)
	for _, tap := range taps {
		s.Stop(tap)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	var got rows
	res, err := sides.Join(context.Background(), files, nil, &got)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", res)
	if res.Connections != bothEndsConns || res.Sides[0] != bothEndsConns {
		t.Fatalf("%d of %d connections on both captures, %d of them with the client's side first", res.Connections, bothEndsConns, res.Sides[0])
	}
	if !res.Clock.Known || math.Abs(res.Clock.Ahead) > res.Clock.Bound {
		t.Errorf("both files are of one clock, and it is said to be %v ahead of itself, within %v", res.Clock.Ahead, res.Clock.Bound)
	}
	stalls := map[string]recording.Request{}
	for _, q := range got.Requests {
		if was, ok := stalls[q.Client]; q.Name != "connect" && (!ok || q.Wait > was.Wait) {
			stalls[q.Client] = q
		}
	}
	for i := range bothEndsConns {
		checkStall(t, i, stalls[fmt.Sprintf("10.78.8.1:%d", 41000+i)])
	}
	dir := filepath.Join(t.TempDir(), "recording")
	if err := readers.Read(context.Background(), readers.Plan{Files: files[:], Dir: dir, Snag: "test"}); err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	v := verdict.Judge(rec)
	for suspect, words := range map[string]string{"slow-dependency": `the server 10\.78\.9\.2:8080 had it for (6\d\d ms|0\.6\d* s)`, "packet-loss": "between the two captures"} {
		told := false
		for _, e := range v.With(verdict.Culprit) {
			told = told || e.Suspect.Name == suspect && e.Subject.Remote == "10.78.9.2:8080" && regexp.MustCompile(words).MatchString(e.Text)
		}
		if !told {
			t.Errorf("no culprit %s: %q", suspect, words)
			for _, e := range v.Entries {
				if e.Suspect.Name == suspect {
					t.Logf("%s %s %s: %s", e.State, e.Suspect.Name, e.Subject.Name, e.Text)
				}
			}
		}
	}
}

// checkStall holds the longest request of a connection against what was done to it.
func checkStall(t *testing.T, i int, q recording.Request) {
	t.Helper()
	if q.Wait < stalledFor.Seconds()/2 || q.Out == nil {
		t.Errorf("connection %d: no stall of %v: %+v", i, stalledFor, q)
		return
	}
	out, back := *q.Out, *q.Back
	ok := false
	switch i % 3 {
	case 0:
		ok = q.AtServer >= 0.98*stalledFor.Seconds() && q.AtServer > 4*q.Network && q.Name == "GET /page"
	case 1:
		ok = out-q.Bound > back+q.Bound && out > q.AtServer && q.LostOut > 0
	case 2:
		ok = back-q.Bound > out+q.Bound && back > q.AtServer && q.LostBack > 0
	}
	if !ok {
		t.Errorf("connection %d, whose stall was %s: out %.4f s, server %.4f s, back %.4f s, within %.4f: %+v",
			i, []string{"at the server", "on the way out", "on the way back"}[i%3], out, q.AtServer, back, q.Bound, q)
	}
}

// serveStalls answers HTTP requests by hand, those with stall=1 late.
func serveStalls(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			buf := make([]byte, 512)
			for {
				n, err := conn.Read(buf)
				if err != nil {
					return
				}
				if strings.HasPrefix(string(buf[:n]), "GET /page?stall=1") {
					time.Sleep(stalledFor)
				}
				if _, err := fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n%9000s", "."); err != nil {
					return
				}
			}
		}()
	}
}

func askFor(conn net.Conn, path string, i int) error {
	if err := conn.SetDeadline(time.Now().Add(15 * time.Second)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "GET /%s&id=%d HTTP/1.1\r\nHost: test\r\n\r\n", path, i); err != nil {
		return err
	}
	_, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n")+9000))
	return err
}
