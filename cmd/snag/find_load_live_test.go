package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"snag/report"
)

// pooled answers HTTP with so many workers, each of which sleeps for 50 ms in each request and takes the next from
// any connection.
const pooled = `
import select, socket, sys, threading, time
listener = socket.create_server(("127.0.0.1", 0), backlog=256)
listener.setblocking(False)
ready = select.epoll()
open_ = {}
once = select.EPOLLIN | select.EPOLLONESHOT
ready.register(listener, once)
def work():
    while True:
        for fd, _ in ready.poll(-1, 1):
            if fd == listener.fileno():
                try:
                    c, _ = listener.accept()
                    open_[c.fileno()] = c
                    ready.register(c, once)
                except BlockingIOError:
                    pass
                ready.modify(listener, once)
                continue
            c = open_[fd]
            if not c.recv(65536):
                del open_[fd]
                ready.unregister(c)
                c.close()
                continue
            time.sleep(0.05)
            c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            ready.modify(c, once)
for _ in range(int(sys.argv[1])):
    threading.Thread(target=work, daemon=True).start()
print(listener.getsockname()[1], flush=True)
sys.stdin.read()
`

// serverOf starts such a server, and returns its port.
func serverOf(t *testing.T, workers int) int {
	t.Helper()
	cmd := exec.Command("python3", "-c", pooled, strconv.Itoa(workers))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// documentOf runs snag and reads its verdict.
func documentOf(t *testing.T, snag string, args ...string) report.Document {
	t.Helper()
	cmd := exec.Command(snag, args...)
	var wrong strings.Builder
	cmd.Stderr = &wrong
	b, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var d report.Document
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatalf("%v: %s %s", err, b, wrong.String())
	}
	return d
}

func culpritsIn(d report.Document) (names []string) {
	for _, e := range d.Verdict {
		if e.State == "culprit" && !e.Elsewhere {
			names = append(names, e.Suspect)
		}
	}
	return names
}

// A pool of two workers for as many requests as 2.6 would have time for, and one of sixteen: what the load's clients
// wait for is accounted for at the service, the first is named, and the second is not.
func TestFindUnderALoad(t *testing.T) {
	h := newTrouble(t)
	for _, c := range []struct {
		workers int
		culprit bool
	}{{2, true}, {16, false}} {
		port := serverOf(t, c.workers)
		dir := filepath.Join(t.TempDir(), "r")
		d := documentOf(t, h.snag, "find", "-q", "--json", "--for", "10s", "--port", strconv.Itoa(port), "--out", dir,
			"--load", fmt.Sprintf("http://127.0.0.1:%d/ --rate 52 --conns 12", port))
		if len(d.Loads) != 1 {
			t.Fatalf("%d workers: %d loads, coverage %+v", c.workers, len(d.Loads), d.Coverage)
		}
		l := d.Loads[0]
		t.Logf("%d workers: %s: %s", c.workers, d.Standing, l.Text)
		if l.NotTheServices != "" || l.Parts == nil || l.Share == nil || l.Within == nil {
			t.Fatalf("%d workers: %+v", c.workers, l)
		}
		if *l.Share < 0.7 || *l.AtServer > l.Parts.Answer {
			t.Errorf("%d workers: %.0f %% of the time for an answer is accounted for: %s", c.workers, 100**l.Share, l.Text)
		}
		if due := l.Parts.Waiting + l.Parts.OwnLag + l.Parts.Answer; math.Abs(due-l.SinceDue.Mean) > 0.01*due {
			t.Errorf("%d workers: the parts make %.4f s, and it is %.4f s since due", c.workers, due, l.SinceDue.Mean)
		}
		line := 0.0
		for _, s := range l.Spent {
			if s.InLine {
				line += s.Seconds
			}
		}
		culprits := culpritsIn(d)
		if named := slices.Contains(culprits, "worker-queue"); named != c.culprit || !c.culprit && len(culprits) > 0 {
			t.Errorf("%d workers: culprits %v, %s", c.workers, culprits, l.Text)
		}
		if c.culprit && (line < 0.5**l.AtServer || l.Parts.Waiting < 0.1 || l.Rate > 42) {
			t.Errorf("%d workers: %.0f ms in line: %s", c.workers, 1000*line, l.Text)
		}
		// Threads that no look found at work are left out of the pool: the last who waits is woken first.
		if !c.culprit && (line > 0.5**l.AtServer || l.Parts.Waiting > 0.02 || d.Standing != "nothing-wrong") {
			t.Errorf("%d workers: %s, %.0f ms in line: %s", c.workers, d.Standing, 1000*line, l.Text)
		}
		for _, r := range d.Requests {
			if r.Role == "call" && strings.HasSuffix(r.Subject, fmt.Sprintf(":%d", port)) {
				t.Errorf("snag's own load is judged as somebody's calls: %+v", r)
			}
		}
		again := documentOf(t, h.snag, "judge", "--json", dir)
		if len(again.Loads) != 1 || again.Loads[0].Text != l.Text || again.Standing != d.Standing || !slices.Equal(culpritsIn(again), culprits) {
			t.Errorf("%d workers: judged again it is %s, %v, %+v", c.workers, again.Standing, culpritsIn(again), again.Loads)
		}
	}
}
