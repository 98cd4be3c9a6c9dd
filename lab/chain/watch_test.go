package chain

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/internal/built"
	"snag/lab"
	"snag/lab/broadcast"
	"snag/lab/labtest"
	"snag/lab/origin"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// watched is snag watch --layers beside a chain, and what it has said so far.
type watched struct {
	t *testing.T
	p *lab.Process
	// from is how much of that was said before the present step.
	from int
}

// blamed are the lines that say where the stream was first hurt, of this step.
func (w *watched) blamed() (out []string) {
	for _, line := range strings.Split(w.p.Printed()[w.from:], "\n") {
		if strings.Contains(line, "what hurt it at") {
			out = append(out, line)
		}
	}
	return out
}

// step begins anew: what was said so far belongs to what was done so far.
func (w *watched) step() { w.from = len(w.p.Printed()) }

// blames waits for the first such line, and checks that each names that place.
func (w *watched) blames(where string) {
	w.t.Helper()
	for end := time.Now().Add(25 * time.Second); len(w.blamed()) == 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%s: nothing was said of it\n%s", where, w.p.Printed()[w.from:])
		}
	}
	time.Sleep(time.Second) // what else it says of it
	for _, line := range w.blamed() {
		if !strings.Contains(line, "began "+where) {
			w.t.Errorf("wanted %s: %s", where, line)
		}
	}
}

// silent is for how long nobody may be blamed.
func (w *watched) silent(what string, d time.Duration) {
	w.t.Helper()
	time.Sleep(d)
	if lines := w.blamed(); len(lines) > 0 {
		w.t.Errorf("%s: %s", what, strings.Join(lines, "\n"))
	}
}

// One stream at three servers, one step after another hurt at a hop: snag watch names
// the first that hurts it. Over the last hop everything always takes 0.2 s longer, and
// for a while another stream stands still: that is nobody's fault.
func TestWatchNamesTheFirstHopThatHurts(t *testing.T) {
	for _, tool := range append(broadcast.Tools, lab.NFT) {
		if _, err := exec.LookPath(tool.Command); err != nil {
			t.Fatalf("%s (Debian package %s) is not installed: make setup", tool.Command, tool.Package)
		}
	}
	if err := origin.Check(); err != nil {
		t.Fatal(err)
	}
	snag := filepath.Join(t.TempDir(), "snag")
	built.Program(t, "snag", snag)
	s := labtest.Stage(t)
	c := New(s, "--delay", "200ms")
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	other := c.relayOf("other")
	w := &watched{t: t, p: s.Run(c.Viewer, "watch", []string{snag, "watch", "--plain", "--layers", c.Layers()}, lab.MayEnd())}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	again := func(pid int, d time.Duration) {
		t.Helper()
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(d)
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	w.silent("a healthy chain", 5*time.Second)
	again(other.PID, 2500*time.Millisecond)
	w.silent("another stream stopped", 4*time.Second) // harm is reported once it has lasted for four seconds

	w.step()
	again(c.WorkerAt("origin"), 2500*time.Millisecond)
	w.blames("between ingest and origin")

	time.Sleep(2 * time.Second)
	w.step()
	s.Nft(c.Netns("origin"), fmt.Sprintf("table ip away { chain out { type filter hook output priority 0; ip daddr %s drop; }; }\n", pushed))
	time.Sleep(2500 * time.Millisecond)
	s.Command(c.Netns("origin"), "nft", "delete", "table", "ip", "away")
	w.blames("between origin and edge")

	time.Sleep(2 * time.Second)
	w.step()
	again(c.Source.PID, 2500*time.Millisecond)
	w.blames("at ingest already")
	t.Log(w.p.Printed())
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}

// relayOf publishes another stream and relays it, and returns its relay.
func (c *Chain) relayOf(name string) *lab.Process {
	c.Encode(broadcast.FileClock, name)
	return c.relay(name)
}
