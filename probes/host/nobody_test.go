package host

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"snag/recording"
)

const asNobody = "SNAG_TEST_AS_NOBODY"

// TestWithoutRoot runs itself again as user 65534 beside a foreign namespace.
func TestWithoutRoot(t *testing.T) {
	if os.Getenv(asNobody) != "" {
		withoutRoot(t)
		return
	}
	n := namespace(t, "nob")
	cmd := exec.Command("ip", "netns", "exec", n.Name, "sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	dir, err := os.MkdirTemp("", "snag-nobody") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	self := filepath.Join(dir, "host.test")
	copyFile(t, "/proc/self/exe", self)
	again := exec.Command(self, "-test.run=^TestWithoutRoot$", "-test.v")
	again.Dir = "/"
	again.Env = append(os.Environ(), asNobody+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := again.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestWithoutRoot") {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
}

func withoutRoot(t *testing.T) {
	p, env, sink := live(t)
	p.tick(0, false)
	p.tick(0, true)
	p.meter.writeCoverage()
	r := sink.Recording()
	if got := r.Select("node_netstat_Udp_RcvbufErrors"); len(got) != 1 || len(got[0].Labels) != 0 || len(got[0].Points) != 2 {
		t.Errorf("the own namespace: %+v", got)
	}
	if row := lastRow(r, env.SelfPID); row == nil || row.FDs == nil {
		t.Errorf("own row %+v", row)
	}
	for _, name := range []string{"host.netstat", "host.qdisc", "host.links", "host.sysctl"} {
		c, measured := r.Measured(name)
		if !measured || c.State != recording.CoveragePartial || !strings.Contains(c.Why, "not permitted") || !strings.Contains(c.Cure, "CAP_SYS_ADMIN") {
			t.Errorf("%s: %+v, want partial for want of CAP_SYS_ADMIN", name, c)
		}
	}
	if c, _ := r.Measured("host.processes"); c.State != recording.CoveragePartial || !strings.Contains(c.Cure, "CAP_SYS_PTRACE") {
		t.Errorf("%+v", c)
	}
}
