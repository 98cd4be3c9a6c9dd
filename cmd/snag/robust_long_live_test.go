//go:build robust

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"snag/internal/cli"
)

// robustAll has the long forms of other tests run too.
const robustAll = true

// TestFindWithoutBTF: what needs no BPF program is judged.
func TestFindWithoutBTF(t *testing.T) {
	h := newTrouble(t)
	o := h.find("no BTF", shell("mount -t tmpfs none /sys/kernel/btf"))
	if o.code != cli.ExitCantTell || !strings.Contains(o.stdout, "CONFIG_DEBUG_INFO_BTF=y") || o.doc == nil || len(o.doc.with("cleared")) == 0 {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

// TestFindWithEachSubsetOfCapabilities: who has all six sees all; nobody else clears anyone.
func TestFindWithEachSubsetOfCapabilities(t *testing.T) {
	h := newTrouble(t)
	// To see into a namespace of others takes CAP_SYS_ADMIN: without one there is nothing to miss.
	readily(t, "unshare", "-n", "sh", "-c", "echo ready; exec sleep 600")
	all := []string{"bpf", "perfmon", "net_admin", "sys_ptrace", "sys_admin", "dac_read_search"}
	for set := range 1 << len(all) {
		var caps []string
		has := map[string]bool{}
		for i, c := range all {
			if set&(1<<i) != 0 {
				caps, has[c] = append(caps, "+"+c), true
			}
		}
		o := h.find("capabilities "+strings.Join(caps, ","), as(strings.Join(caps, ",")), "--for", "1s")
		// CAP_SYS_ADMIN loads BPF programs too.
		if has["sys_ptrace"] && has["sys_admin"] && has["dac_read_search"] {
			o.judged(t)
			continue
		}
		o.unproven(t)
		if o.code == 0 {
			t.Errorf("%v: exit 0\n%s", caps, o.stdout)
		}
	}
}

// TestFindOnACrowdedHost: what a busy host has much of costs what is reported, and is bounded.
func TestFindOnACrowdedHost(t *testing.T) {
	h := newTrouble(t)
	t.Run("hogs", func(t *testing.T) {
		for range 8 {
			readily(t, "nice", "-n", "19", "sh", "-c", "echo ready; while :; do :; done")
		}
		o := h.find("8 CPU hogs at nice 19", nil)
		o.judged(t)
		o.costs(t, 80, 6)
	})
	t.Run("storm", func(t *testing.T) {
		crowd(t, "storm", "100")
		o := h.find("a fork storm", nil)
		o.judged(t)
		o.costs(t, 90, 10)
	})
	t.Run("named", func(t *testing.T) {
		sh(t, "for i in $(seq 200); do ip netns add snagr$i; done")
		t.Cleanup(func() { sh(t, "for i in $(seq 200); do ip netns del snagr$i; done") })
		o := h.find("200 network namespaces", nil)
		o.judged(t)
		o.costs(t, mostNamespacesMB, 8)
	})
	t.Run("lived in", func(t *testing.T) {
		readily(t, "sh", "-c", "for i in $(seq 200); do unshare -n sleep 90 & done; sleep 2; echo ready; wait")
		o := h.find("200 network namespaces, a process in each", nil)
		o.judged(t)
		o.costs(t, mostNamespacesMB, 10)
	})
	t.Run("sockets", func(t *testing.T) {
		readily(t, "python3", "-c", `
import os, socket, resource, time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
each = min(8000, hard // 2 - 100)
left, n = 20000, 2
ready, done = os.pipe()
while left > 0:
    n, count = n + 1, min(each, left)
    left -= count
    if os.fork() == 0:
        l = socket.socket(); l.bind(("127.0.0.1", 0)); l.listen(1000)
        held = []
        for i in range(count):
            s = socket.socket(); s.bind(("127.0.0.%d" % n, 0)); s.connect(l.getsockname())
            held += [s, l.accept()[0]]
        os.write(done, b".")
        time.sleep(90)
        os._exit(0)
for i in range(n - 2):
    os.read(ready, 1)
print("ready", flush=True)
time.sleep(90)`)
		o := h.find("40,000 sockets", nil)
		o.judged(t)
		o.costs(t, mostSocketsMB, 8)
	})
	t.Run("names", func(t *testing.T) {
		p := readily(t, "python3", "-c", `
import ctypes, time
ctypes.CDLL(None).prctl(15, b"\xff\xfe\x80\x1b[31m\n\"x", 0, 0, 0)
print("ready", flush=True)
end = time.time() + 60
while time.time() < end: pass`)
		o := h.find("a process name that is not UTF-8", nil, "--pid", fmt.Sprint(p.Process.Pid))
		o.judged(t)
		if o.doc == nil || strings.ToValidUTF8(o.stdout, "") != o.stdout {
			t.Errorf("it is not UTF-8: %q", o.stdout)
		}
	})
}

// mostSocketsMB is the most memory for 40,000 sockets: it was 99 MB in the first run that had them.
const mostSocketsMB = 110

// mostNamespacesMB is the most memory for 200 namespaces: it was 131 MB.
const mostNamespacesMB = 125

// costs demands that a find took no more than that, and told what it took: not less than
// nine tenths of it, since what its end takes comes after.
func (o *oneRun) costs(t *testing.T, mostMB int64, mostCPU float64) {
	t.Helper()
	if o.peak>>20 > mostMB || o.cpu > mostCPU {
		t.Errorf("it took %d MB and %.1f s of CPU, not %d MB and %.1f s", o.peak>>20, o.cpu, mostMB, mostCPU)
	}
	if told := o.reported(); told < 0.9*o.cpu-0.1 || told > o.cpu+1 {
		t.Errorf("it took %.2f s of CPU and says %.2f", o.cpu, told)
	}
}

// TestFindOnAFullDisk: one line says what to do, and what was written is judged.
func TestFindOnAFullDisk(t *testing.T) {
	h := newTrouble(t)
	for _, size := range []string{"40k", "300k", "1m"} {
		disk := shell("mount -t tmpfs -o size=" + size + " none /mnt")
		for name, b := range map[string]*begun{
			"--out":  h.begin("full disk, --out on "+size, disk, "find", "-q", "--for", "3s", "--out", "/mnt/r"),
			"TMPDIR": nil,
		} {
			if b == nil {
				b = h.begin("full disk, TMPDIR on "+size, append(disk, "env", "TMPDIR=/mnt"), "find", "-q", "--for", "3s")
			}
			o := b.end()
			if o.code == 0 || !strings.Contains(o.stderr, "no space left on device: free some space or record to another disk (--out); what was written is kept") || o.first() == "" {
				t.Errorf("%s on %s: exit %d\n%s%s", name, size, o.code, o.stdout, o.stderr)
			}
		}
	}
	o := h.begin("full disk, TMPDIR on 4k", append(shell("mount -t tmpfs -o size=4k none /mnt"), "env", "TMPDIR=/mnt"), "find", "-q", "--for", "3s").end()
	if o.code != 1 || !strings.Contains(o.stderr, "no space left on device") || !strings.Contains(o.stderr, "free some space or record to another disk (--out, TMPDIR)") {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	o = h.begin("standard output is full", []string{"sh", "-c", `exec "$@" >/dev/full`, "sh"}, "find", "-q", "--for", "1s", "--out", filepath.Join(h.dir, "full")).end()
	if o.code != 1 || !strings.Contains(o.stderr, "no space left on device") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}
