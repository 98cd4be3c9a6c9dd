package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/lab"
)

func TestPlan(t *testing.T) {
	inc := func(name string, vm *lab.VM, tools ...lab.Tool) lab.Incident {
		return lab.Incident{Name: name, VM: vm, Needs: tools}
	}
	list := []lab.Incident{
		inc("fq", &lab.VM{Modules: []string{"sch_fq"}}),
		inc("numa", &lab.VM{Nodes: 2, Memory: 2048}),
		inc("conntrack", &lab.VM{Modules: []string{"nf_conntrack", "nf_conntrack_netlink"}}, lab.Tool{Command: "conntrack"}),
		inc("old", &lab.VM{Suite: "bullseye"}),
		inc("plain", nil),
		inc("swap", &lab.VM{Memory: 2048, Nodes: 2, Modules: []string{"zram"}}),
	}
	var got []string
	for _, b := range plan(list, "") {
		got = append(got, b.name()+": "+strings.Join(b.names(), " ")+"; "+strings.Join(b.modules, " ")+"; "+strings.Join(b.tools, " "))
	}
	want := []string{
		"trixie-1nodes-1024MiB: fq conntrack plain; nf_conntrack nf_conntrack_netlink sch_fq; conntrack ip nft tc",
		"trixie-2nodes-2048MiB: numa swap; zram; ip nft tc",
		"bullseye-1nodes-1024MiB: old; ; ip nft tc",
	}
	if !slices.Equal(got, want) {
		t.Errorf("boots:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := len(plan(list, "bookworm")); n != 2 {
		t.Errorf("%d boots with one suite for all, want 2", n)
	}
}

func TestWhatIsMissingFailed(t *testing.T) {
	got, err := parseResults([]byte(`{"incident":"fq","variant":"sick","outcome":"right","answer":{"version":1},"seconds":20}
{"incident":"fq","variant":"healthy","outcome":"false","why":"x was accused","answer":{"version":1},"seconds":21}
{"incident":"fq","vari`))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range complete([]lab.Incident{{Name: "fq"}}, got) {
		all = append(all, string(r.Variant)+" "+string(r.Outcome))
	}
	if want := []string{"sick right", "healthy false", "distractor failed"}; !slices.Equal(all, want) {
		t.Errorf("results %q, want %q", all, want)
	}
}

func TestUntrue(t *testing.T) {
	for _, c := range []struct{ exit, text, want string }{
		{"0\n", "--- PASS: TestTruth", ""},
		{"0\n", "--- SKIP: TestTruth/sick (0.1s)", "skipped"},
		{"1\n", "want 3 drops", "failed: want 3 drops"},
		{"", "", "did not run to its end"},
	} {
		if got := untrue(c.exit, c.text); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("exit %q: %q, want %q", c.exit, got, c.want)
		}
	}
}

// TestPause stops a process that stands in for the machine, and lets it go on.
func TestPause(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	p := pauser{path: filepath.Join(t.TempDir(), "pauses"), pid: cmd.Process.Pid}
	if err := p.look(); err != nil { // the file is not there yet
		t.Fatal(err)
	}
	if err := os.WriteFile(p.path, []byte("pause\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- p.look() }()
	stopped := false
	for end := time.Now().Add(pauseLength / 2); time.Now().Before(end) && !stopped; time.Sleep(10 * time.Millisecond) {
		stopped = state(t, p.pid) == "T"
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if !stopped {
		t.Error("it was never stopped")
	}
	if s := state(t, p.pid); s == "T" {
		t.Error("it is still stopped")
	}
	begin := time.Now()
	if err := p.look(); err != nil || time.Since(begin) > time.Second {
		t.Errorf("the same line stopped it again (%v)", err)
	}
}

func state(t *testing.T, pid int) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	return rest[:1]
}
