package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"snag/internal/cli"
)

// space is a network namespace of a test, with the settings that its plan changes.
type space struct {
	t     *testing.T
	name  string
	plan  string // the file
	store string
}

// tuned are the settings of a test's plan: name, its value then.
var tuned = [][2]string{
	{"net.core.somaxconn", "16384"},
	{"net.ipv4.tcp_max_syn_backlog", "8192"},
	{"net.ipv4.tcp_fin_timeout", "17"},
}

// newSpace makes a namespace, a plan for it and an empty store. With device there is a
// veth in it as well, whose queue the plan makes longer.
func newSpace(t *testing.T, short string, device bool) *space {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	dir, err := os.MkdirTemp("", "snag-tune")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // a guard whose plan failed notes it there and ends
		for end := time.Now().Add(5 * time.Second); os.RemoveAll(dir) != nil && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
	})
	s := &space{t: t, name: fmt.Sprintf("snagtune%d%s", os.Getpid(), short), plan: filepath.Join(dir, "plan.yaml"), store: filepath.Join(dir, "store")}
	s.run("ip", "netns", "add", s.name)
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", s.name).Run() })
	text := "version: 1\nfor: {}\nchanges:\n"
	change := func(target, now, then string) {
		text += fmt.Sprintf("  - id: %q\n    target: {%s, netns: %s}\n    now: %q\n    then: %q\n    why: a test\n", strconv.Itoa(strings.Count(text, "- id:")+1), target, s.name, now, then)
	}
	for _, k := range tuned {
		change("kind: sysctl, name: "+k[0], s.sysctl(k[0]), k[1])
	}
	if device {
		s.run("ip", "-n", s.name, "link", "add", "eth0", "type", "veth", "peer", "name", "eth1")
		change("kind: txqueuelen, device: eth0", "1000", "5000")
	}
	if err := os.WriteFile(s.plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *space) run(args ...string) string {
	s.t.Helper()
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s *space) sysctl(name string) string {
	s.t.Helper()
	return strings.TrimSpace(s.run("ip", "netns", "exec", s.name, "sysctl", "-n", name))
}

// values are those of all settings of the plan now.
func (s *space) values() (all []string) {
	for _, k := range tuned {
		all = append(all, s.sysctl(k[0]))
	}
	return all
}

// locks is where snags that work with this store exclude each other: tests run side by side.
func (s *space) locks() string { return s.store + "-run" }

// tune runs snag tune to its end.
func (s *space) tune(args ...string) (out string, code int) {
	s.t.Helper()
	return s.ended(exec.Command("snag", append(append([]string{"tune"}, args...), "--store", s.store, "--run", s.locks())...))
}

func (s *space) ended(cmd *exec.Cmd) (string, int) {
	s.t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if cmd.ProcessState == nil {
		s.t.Fatalf("%v: %v", cmd.Args, err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// comeBack waits until all values are those of before.
func (s *space) comeBack(before []string, within time.Duration) {
	s.t.Helper()
	var now []string
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if now = s.values(); fmt.Sprint(now) == fmt.Sprint(before) {
			return
		}
	}
	out, _ := s.tune("status")
	s.t.Errorf("after %v the values are %v, and were %v\n%s", within, now, before, out)
}

var guardPID = regexp.MustCompile(`by process (\d+)`)

func TestTheGuardIsKilled(t *testing.T) {
	t.Parallel()
	s := newSpace(t, "guard", false)
	before := s.values()
	out, code := s.tune("apply", s.plan, "--within", "5s")
	if strings.Contains(out, "(by unit snag-tune-") {
		s.tune("undo")
		t.Skip("systemd runs this host: it starts a guard again that was killed")
	}
	m := guardPID.FindStringSubmatch(out)
	if code != 0 || m == nil {
		t.Fatalf("exit %d: %s", code, out)
	}
	if out, _ := s.tune("status"); strings.Contains(out, "NOBODY WAITS") {
		t.Errorf("somebody waits: %s", out)
	}
	if rows := s.status(); len(rows) != 1 || rows[0].Phase != "unconfirmed" || !rows[0].Guarded || rows[0].Deadline == nil ||
		len(rows[0].Changes) != len(tuned) || rows[0].Changes[0].New != tuned[0][1] {
		t.Errorf("status: %+v", rows)
	}
	pid, _ := strconv.Atoi(m[1])
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	out, _ = s.tune("status")
	if !strings.Contains(out, "NOBODY WAITS FOR IT ANY MORE (process "+m[1]+" is gone)") || !strings.Contains(out, "snag tune undo") {
		t.Errorf("status: %s", out)
	}
	time.Sleep(7 * time.Second) // the deadline, and the grace of a guard that is late
	if now := s.values(); now[0] != tuned[0][1] {
		t.Errorf("somebody undid it: %v", now)
	}
	if out, code := s.tune("plan", "--json", "--leave-overdue", "/nowhere"); code != cli.ExitFailed || s.values()[0] != tuned[0][1] {
		t.Errorf("snag mcp's plan changes the host: %v, exit %d: %s", s.values(), code, out)
	}
	out, _ = s.tune("status")
	if !strings.Contains(out, "was overdue and no snag tune waited for it: it is undone now") || !strings.Contains(out, "undone: it was not confirmed by") {
		t.Errorf("status: %s", out)
	}
	if rows := s.status(); len(rows) != 1 || rows[0].Phase != "undone" || rows[0].Guarded || rows[0].Deadline != nil || !rows[0].Changes[0].Undone {
		t.Errorf("status: %+v", rows)
	}
	s.comeBack(before, 0+time.Second)
}

// status is what snag tune status --json writes.
func (s *space) status() (rows []statusRow) {
	s.t.Helper()
	out, code := s.tune("status", "--json")
	if err := json.Unmarshal([]byte(out), &rows); err != nil || code != 0 {
		s.t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	return rows
}

// The real program is killed at each write to the disk of its journal, by the kernel as
// kill -9 does; its guard, which is not traced, puts the old values back.
func TestKilledAtEachSync(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Fatal("make setup installs strace:", err)
	}
	var all sync.WaitGroup // they wait for a deadline most of the time: all at once
	for n := 1; n <= 10; n++ {
		all.Go(func() { t.Run(strconv.Itoa(n), killedAtSync(n)) })
	}
	all.Wait()
	// The same, but the disk has no room at that moment.
	for n := 1; n <= 10; n++ {
		all.Go(func() { t.Run("full"+strconv.Itoa(n), fullAtSync(n)) })
	}
	all.Wait()
}

// traced runs snag tune apply under strace(1), which interferes with its nth fdatasync.
// The guard is not traced.
func (s *space) traced(inject string, n int) (string, int) {
	s.t.Helper()
	return s.ended(exec.Command("strace", "-f", "-b", "execve", "-o", "/dev/null", "-e", "trace=fdatasync,execve", "-e", fmt.Sprintf("inject=fdatasync:%s:when=%d", inject, n),
		"snag", "tune", "apply", s.plan, "--within", "5s", "--store", s.store, "--run", s.locks()))
}

func killedAtSync(n int) func(*testing.T) {
	return func(t *testing.T) {
		s := newSpace(t, "kill"+strconv.Itoa(n), false)
		before := s.values()
		out, code := s.traced("signal=SIGKILL", n)
		t.Logf("exit %d: %s", code, out)
		s.comeBack(before, 20*time.Second)
		out, _ = s.tune("status")
		if strings.Contains(out, "unconfirmed") || strings.Contains(out, "NOT UNDONE") {
			t.Errorf("status: %s", out)
		}
		if out, code := s.tune("apply", s.plan, "--dry-run"); code != 0 {
			t.Errorf("the next one: %s", out)
		}
	}
}

func fullAtSync(n int) func(*testing.T) {
	return func(t *testing.T) {
		s := newSpace(t, "full"+strconv.Itoa(n), false)
		before := s.values()
		out, code := s.traced("error=ENOSPC", n)
		t.Logf("exit %d: %s", code, out)
		if code != 0 && !strings.Contains(out, "no space left on device") {
			t.Errorf("exit %d: %s", code, out)
		}
		s.comeBack(before, 20*time.Second)
	}
}

// The terminal goes away in the middle: its session gets a SIGHUP, and what was begun
// goes on until it is confirmed or its time is over.
func TestTheTerminalIsLost(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("script"); err != nil {
		t.Fatal("script(1) is of bsdutils, which every Debian has:", err)
	}
	s := newSpace(t, "tty", false)
	before := s.values()
	// script(1) is the terminal: when it is killed, the kernel hangs the session up.
	cmd := exec.Command("script", "-qfec", fmt.Sprintf("snag tune apply %s --within 5s --store %s --run %s; sleep 60", s.plan, s.store, s.locks()), "/dev/null")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); s.values()[2] != tuned[2][1] && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = in.Close()
	_ = cmd.Wait()
	if now := s.values(); now[2] != tuned[2][1] {
		t.Errorf("it was not applied: %v", now)
	}
	if out, _ := s.tune("status"); !strings.Contains(out, "unconfirmed") || strings.Contains(out, "NOBODY WAITS") {
		t.Errorf("the guard went with the terminal: %s", out)
	}
	s.comeBack(before, 12*time.Second)
}

func TestADeviceThatGoesAway(t *testing.T) {
	t.Parallel()
	s := newSpace(t, "veth", true)
	before := s.values()
	if out, code := s.tune("apply", s.plan, "--within", "1m"); code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	s.run("ip", "-n", s.name, "link", "del", "eth0")
	out, code := s.tune("undo")
	if code != cli.ExitFailed || !strings.Contains(out, "eth0") {
		t.Errorf("exit %d: %s", code, out)
	}
	s.comeBack(before, time.Second) // the others are undone all the same
	if out, _ = s.tune("status"); !strings.Contains(out, "NOT UNDONE") || !strings.Contains(out, "txqueuelen of eth0") {
		t.Errorf("status: %s", out)
	}
	// What can't be undone any more is said, and stands in nobody's way.
	other := newSpace(t, "veth2", false)
	other.store = s.store
	if out, code := other.tune("apply", other.plan, "--within", "1m"); code != 0 {
		t.Errorf("another plan: exit %d: %s", code, out)
	}
	if out, code := other.tune("undo"); code != 0 {
		t.Errorf("another plan: exit %d: %s", code, out)
	}
}

// A namespace that is gone took its settings with it: nothing is left to undo, also where
// another got its name, which is not touched.
func TestANamespaceThatGoesAway(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		s := newSpace(t, fmt.Sprintf("gone%v", again), false)
		if out, code := s.tune("apply", s.plan, "--within", "1m"); code != 0 {
			t.Fatalf("exit %d: %s", code, out)
		}
		s.run("ip", "netns", "del", s.name)
		s.run("ip", "netns", "add", s.name+"x") // it may get the inode
		if again {
			s.run("ip", "netns", "add", s.name)
			s.run("ip", "netns", "exec", s.name, "sysctl", "-qw", tuned[0][0]+"="+tuned[0][1])
		}
		out, code := s.tune("undo")
		if code != 0 || !strings.Contains(out, "nothing is left to undo, and it is settled") || strings.Count(out, "is gone") != len(tuned) {
			t.Errorf("exit %d: %s", code, out)
		}
		if again && s.values()[0] != tuned[0][1] {
			t.Errorf("another namespace of that name was changed: %v", s.values())
		}
		if out, _ := s.tune("status"); strings.Contains(out, "NOT UNDONE") || !strings.Contains(out, "  undone: asked for by a person") {
			t.Errorf("status: %s", out)
		}
		s.run("ip", "netns", "del", s.name+"x")
	}
	// One that lost only its name lives on in a process, and is undone there.
	s := newSpace(t, "held", false)
	before := s.values()
	held := exec.Command("ip", "netns", "exec", s.name, "sleep", "60")
	if err := held.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Process.Kill(); _ = held.Wait() }()
	if out, code := s.tune("apply", s.plan, "--within", "1m"); code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	s.run("ip", "netns", "del", s.name)
	if out, code := s.tune("undo"); code != 0 || !strings.Contains(out, "3 settings are as before") {
		t.Errorf("exit %d: %s", code, out)
	}
	s.run("ip", "netns", "attach", s.name, strconv.Itoa(held.Process.Pid))
	s.comeBack(before, time.Second)
}

// Two stores on one host, one after the other and at the same time.
func TestTwoStoresAtOnce(t *testing.T) {
	t.Parallel()
	s := newSpace(t, "stores", false)
	if out, code := s.tune("apply", s.plan, "--within", "1m"); code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	out, code := s.ended(exec.Command("snag", "tune", "apply", s.plan, "--store", s.store+"2", "--run", s.locks()))
	if code != cli.ExitFailed || !strings.Contains(out, "of another store, "+s.store) || !strings.Contains(out, "is not confirmed yet") {
		t.Errorf("exit %d: %s", code, out)
	}
	if out, code := s.tune("undo"); code != 0 {
		t.Errorf("exit %d: %s", code, out)
	}
}

// A store that is named from where one stands is found by the guard, who stands elsewhere.
func TestARelativeStore(t *testing.T) {
	t.Parallel()
	s := newSpace(t, "here", false)
	before := s.values()
	cmd := exec.Command("snag", "tune", "apply", s.plan, "--within", "5s", "--store", filepath.Base(s.store), "--run", s.locks())
	cmd.Dir = filepath.Dir(s.store)
	if out, code := s.ended(cmd); code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	if out, _ := s.tune("status"); strings.Contains(out, "NOBODY WAITS") {
		t.Errorf("status: %s", out)
	}
	s.comeBack(before, 12*time.Second)
}

// In a mount namespace of its own, /proc/sys can't be written: the first change fails,
// and nothing is left half done.
func TestAReadOnlyProc(t *testing.T) {
	t.Parallel()
	s := newSpace(t, "ro", false)
	before := s.values()
	out, code := s.ended(exec.Command("unshare", "-m", "sh", "-c",
		`mount -o bind,ro /proc/sys /proc/sys && exec snag tune apply "$1" --store "$2" --run "$3"`, "sh", s.plan, s.store, s.locks()))
	if code != cli.ExitFailed || !strings.Contains(out, "read-only") || !strings.Contains(out, "is undone") {
		t.Errorf("exit %d: %s", code, out)
	}
	s.comeBack(before, time.Second)
	if out, _ := s.tune("status"); !strings.Contains(out, "undone: a change failed") {
		t.Errorf("status: %s", out)
	}
}

// The journal is on a disk that fills up: what can't be written down is not done.
func TestADiskThatIsFull(t *testing.T) {
	t.Parallel()
	s := newSpace(t, "full", false)
	before := s.values()
	if err := os.MkdirAll(s.store, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, left := range []int{0, 4096, 8192, 12288} {
		out, code := s.ended(exec.Command("unshare", "-m", "sh", "-c",
			`mount -t tmpfs -o size=64k,mode=700 tmpfs "$2" && dd if=/dev/zero of="$2/filler" bs=1 count=$((65536-$3)) 2>/dev/null; snag tune apply "$1" --store "$2" --run "$4" --within 5s; code=$?; rm -f "$2/filler"; snag tune undo --store "$2" --run "$4"; exit $code`,
			"sh", s.plan, s.store, strconv.Itoa(left), s.locks()))
		if left == 0 && (code != cli.ExitFailed || !strings.Contains(out, "no space left on device")) {
			t.Errorf("%d bytes left: exit %d: %s", left, code, out)
		}
		t.Logf("%d bytes left: exit %d: %s", left, code, out)
		s.comeBack(before, time.Second)
	}
}

func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	s := newSpace(t, "two", false)
	before := s.values()
	codes := make(chan int, 4)
	outs := make(chan string, 4)
	for range 4 {
		go func() {
			out, err := exec.Command("snag", "tune", "apply", s.plan, "--store", s.store, "--run", s.locks(), "--within", "1m").CombinedOutput()
			code := 0
			if err != nil {
				code = 1
			}
			outs <- string(out)
			codes <- code
		}()
	}
	worked, all := 0, ""
	for range 4 {
		if <-codes == 0 {
			worked++
		}
		all += <-outs
	}
	if worked != 1 || strings.Count(all, "another snag")+strings.Count(all, "not confirmed yet") != 3 {
		t.Errorf("%d of 4 worked: %s", worked, all)
	}
	if out, code := s.tune("undo"); code != 0 {
		t.Errorf("%s", out)
	}
	s.comeBack(before, time.Second)
}
