package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/internal/cli"
)

// sh runs a line of shell.
func sh(t *testing.T, line string) {
	t.Helper()
	if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// inGroup is a wrap that runs snag in a memory control group with that limit.
func inGroup(t *testing.T, limit int) []string {
	t.Helper()
	dir, file := "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		dir, file = "/sys/fs/cgroup", "memory.max"
	}
	dir = filepath.Join(dir, "snag-robust-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatalf("make a memory control group: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, file), []byte(strconv.Itoa(limit)), 0o644); err != nil {
		t.Fatal(err)
	}
	return []string{"sh", "-c", "echo $$ >" + dir + `/cgroup.procs; exec "$@"`, "sh"}
}

// unproven demands that a cut view cleared nobody.
func (o *oneRun) unproven(t *testing.T) {
	t.Helper()
	if o.doc == nil {
		t.Errorf("no verdict:\n%s%s", o.stdout, o.stderr)
	} else if all := o.doc.with("cleared"); len(all) > 0 {
		t.Errorf("a view that is cut cleared %d: %.200s\n%s", len(all), all, o.stdout)
	}
}

const blindCut = "NOT ENOUGH SEEN to say that nothing is wrong: the view is cut"

// TestFindWithinLimits: little memory and few descriptors end no recording.
func TestFindWithinLimits(t *testing.T) {
	h := newTrouble(t)
	o := h.find("80 MB of memory", inGroup(t, 80<<20), "--for", "2s")
	o.judged(t)
	if o.doc == nil || len(o.doc.with("cleared")) < 40 {
		t.Errorf("with 80 MB it judged nearly nobody:\n%s%s", o.stdout, o.stderr)
	}
	o = h.find("64 descriptors", []string{"prlimit", "--nofile=64:64", "--"}, "--for", "1s")
	if o.code != cli.ExitCantTell || !strings.Contains(o.stdout, "raise the limit of open files: ulimit -n 1024") || o.doc == nil || len(o.doc.with("cleared")) < 20 {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

// TestFindWithACutView: who does not see all clears nobody, and the first line says it.
func TestFindWithACutView(t *testing.T) {
	h := newTrouble(t)
	hidepid := shell("mount -t proc -o hidepid=2 proc /proc")
	for _, c := range []struct {
		name  string
		wrap  []string
		quick bool
	}{
		{"all capabilities but CAP_SYS_PTRACE", as("+bpf,+perfmon,+net_admin,+sys_admin,+dac_read_search"), true},
		{"hidepid=2, all but CAP_SYS_PTRACE", append(hidepid, as("+bpf,+perfmon,+net_admin,+sys_admin,+dac_read_search")...), true},
		{"hidepid=2, no capability", append(hidepid, as("")...), false},
		{"a PID namespace", []string{"unshare", "-p", "-f", "--mount-proc", "--"}, true},
		{"a PID namespace with the host's /proc", []string{"unshare", "-p", "-f", "--"}, false},
		{"a container (pid, mnt, net)", []string{"unshare", "-p", "-m", "-n", "-f", "--mount-proc", "--"}, false},
		{"a container of a user (user, pid, mnt, net)", []string{"unshare", "-U", "-r", "-p", "-m", "-n", "-f", "--mount-proc", "--"}, false},
	} {
		if !c.quick && !robustAll {
			continue
		}
		o := h.find(c.name, c.wrap, "--for", "1s")
		o.unproven(t)
		if !strings.HasPrefix(o.first(), "! the view is cut, so no suspect is cleared: ") && o.first() != blindCut {
			t.Errorf("%s: it begins with %q:\n%s", c.name, o.first(), o.stdout)
		}
	}
}

// TestFindByTheNameOfItsNamespace: --netns may name the namespace that snag runs in.
func TestFindByTheNameOfItsNamespace(t *testing.T) {
	h := newTrouble(t)
	name := "snagown" + strconv.Itoa(os.Getpid())
	sh(t, "ip netns add "+name)
	t.Cleanup(func() { sh(t, "ip netns del "+name) })
	o := h.find("--netns of the own namespace", []string{"ip", "netns", "exec", name}, "--netns", name, "--for", "1s")
	o.judged(t)
	if !robustAll {
		return
	}
	h.find("--netns of the own namespace, nsenter", []string{"nsenter", "--net=/run/netns/" + name}, "--netns", name).judged(t)
	h.find("--netns of another", nil, "--netns", name).judged(t)
	path := "/run/netns/" + name + "h"
	sh(t, "touch "+path+"; mount --bind /proc/self/ns/net "+path)
	t.Cleanup(func() { sh(t, "umount "+path+"; rm "+path) })
	h.find("--netns of the host's, by a name", nil, "--netns", name+"h").judged(t)
}

// TestFindIsEndedBySignals: each ends the recording, and it is judged.
func TestFindIsEndedBySignals(t *testing.T) {
	h := newTrouble(t)
	for name, s := range map[string]syscall.Signal{"SIGHUP": syscall.SIGHUP, "SIGQUIT": syscall.SIGQUIT, "SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM} {
		if !robustAll && name != "SIGHUP" && name != "SIGQUIT" {
			continue // signals.txtar has them
		}
		dir := filepath.Join(h.dir, name)
		b := h.begin(name, nil, "find", "-q", "--for", "25s", "--out", dir)
		time.Sleep(3 * time.Second)
		b.signal(s)
		if s == syscall.SIGHUP { // the kernel's and the shell's
			time.Sleep(20 * time.Millisecond)
			b.signal(s)
		}
		o := b.end()
		o.judged(t)
		if d := h.judge(dir); d == nil || len(d.with("cleared")) == 0 {
			t.Errorf("%s: the recording shows nothing\n%s%s", name, o.stdout, o.stderr)
		}
	}
}

// TestFindIsEndedTwice: the second signal ends it at once, and says where the recording is.
func TestFindIsEndedTwice(t *testing.T) {
	h := newTrouble(t)
	dir := filepath.Join(h.dir, "twice")
	b := h.begin("Ctrl-C twice", nil, "find", "-q", "--for", "25s", "--out", dir)
	time.Sleep(2500 * time.Millisecond)
	b.signal(syscall.SIGINT)
	time.Sleep(30 * time.Millisecond)
	b.signal(syscall.SIGINT)
	o := b.end()
	if o.code >= 0 { // it was quicker than the second
		o.judged(t)
	} else if !strings.Contains(o.stderr, "judge it with snag judge "+dir) {
		t.Errorf("it said %q", o.stderr)
	}
	if h.judge(dir) == nil {
		t.Error("the recording can't be judged")
	}
	if !robustAll {
		return
	}
	dir = filepath.Join(h.dir, "killed")
	b = h.begin("kill -9, then judge", nil, "find", "-q", "--for", "25s", "--out", dir)
	time.Sleep(4 * time.Second)
	b.signal(syscall.SIGKILL)
	b.end()
	if d := h.judge(dir); d == nil || len(d.with("cleared")) == 0 {
		t.Error("what was recorded before kill -9 shows nothing")
	}
}
