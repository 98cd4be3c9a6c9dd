package fleet

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// The hosts reach each other, players get answers from every edge, and the stream arrives; and a program
// that is stopped lets half of the players wait.
func TestTruth(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: no network namespaces can be made")
	}
	stage, err := lab.NewStage(t.Context(), lab.Options{Shared: true, Suffix: "f"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stage.Close(); err != nil {
			t.Error(err)
		}
	}()
	f := &Fleet{Stage: stage, Draw: drawn.NewDraw(2, "fleet/test"), procs: map[string]*lab.Process{}}
	f.network()
	f.services()
	f.clients()
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	for _, h := range Hosts {
		if h.Role != Edge {
			continue
		}
		said, err := f.Output(f.Name("players"), "curl", "-sS", "--max-time", "5", "-o", "/dev/null", "-w", "%{http_code}", "http://"+h.Addr+"/")
		if err != nil || said != "200" {
			t.Errorf("%s answers %q: %v", h.Name, said, err)
		}
	}
	last := func() string {
		lines := strings.Split(strings.TrimSpace(f.procs["player"].Printed()), "\n")
		return lines[len(lines)-1]
	}
	t.Log("healthy: ", last())
	f.Signal(f.procs["playlist-srv"], syscall.SIGSTOP)
	f.Pause(2500 * time.Millisecond)
	if f.Signal(f.procs["playlist-srv"], syscall.SIGCONT); f.Err() != nil {
		t.Fatal(f.Err())
	}
	f.AwaitOutput(f.procs["player"], "answers that took over a second", func(printed string) bool {
		_, p99, found := strings.Cut(printed[strings.LastIndex(printed, "answers"):], "p99_ms ")
		return found && len(strings.TrimSpace(p99)) >= len("1000.0")
	})
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	if p := f.procs["viewer"]; p.Ended() {
		t.Error("the stream has ended: ", p.Printed())
	}
}
