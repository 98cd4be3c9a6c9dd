package knob

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snag/remedies/plan"
)

// folder is a host whose /proc and /sys are folders with these files.
func folder(t *testing.T, files map[string]string) Host {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Host{Proc: filepath.Join(dir, "proc"), Sys: filepath.Join(dir, "sys"), In: inNamed}
}

func TestInterrupts(t *testing.T) {
	h := folder(t, map[string]string{"proc/irq/45/smp_affinity": "00000000,0000000f\n", "proc/812/comm": "nginx\n"})
	target := plan.Target{Kind: "irq", IRQ: 45}
	k := Kinds["irq"]
	if got, err := k.Read(h, target); err != nil || !k.Same(target, got, "f") {
		t.Errorf("%q, %v", got, err)
	}
	if err := k.Write(h, target, "2"); err != nil {
		t.Error(err)
	}
	if got, err := k.Read(h, target); err != nil || got != "2" {
		t.Errorf("%q, %v", got, err)
	}
	if running, err := IRQBalance(h); running || err != nil {
		t.Error(running, err)
	}
	if err := os.WriteFile(filepath.Join(h.Proc, "812/comm"), []byte("irqbalance\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := k.Write(h, target, "1"); err == nil || !strings.Contains(err.Error(), "irqbalance runs") || !strings.Contains(err.Error(), "--banirq=45") {
		t.Errorf("beside irqbalance: %v", err)
	}
	if got, _ := k.Read(h, target); got != "2" {
		t.Errorf("it was written all the same: %q", got)
	}
	if _, err := k.Read(h, plan.Target{Kind: "irq", IRQ: 46}); !errors.Is(err, ErrAbsent) {
		t.Errorf("an interrupt that is not there: %v", err)
	}
	for irq, mask := range map[int]string{0: "1", -1: "1", 45: "0", 46: "0x3", 47: "", 48: "/etc/passwd"} {
		if k.Valid(plan.Target{Kind: "irq", IRQ: irq}, mask) == nil {
			t.Errorf("interrupt %d takes %q", irq, mask)
		}
	}
}

func TestHugePages(t *testing.T) {
	h := folder(t, map[string]string{
		"sys/kernel/mm/transparent_hugepage/enabled":           "always [madvise] never\n",
		"sys/kernel/mm/transparent_hugepage/khugepaged/defrag": "1\n",
	})
	k := Kinds["thp"]
	for name, want := range map[string]string{"enabled": "madvise", "khugepaged/defrag": "1"} {
		if got, err := k.Read(h, plan.Target{Kind: "thp", Name: name}); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	if _, err := k.Read(h, plan.Target{Kind: "thp", Name: "defrag"}); !errors.Is(err, ErrAbsent) {
		t.Errorf("what the kernel has not: %v", err)
	}
	for name, value := range map[string]string{"enabled": "sometimes", "defrag": "", "../../etc": "never", "khugepaged/defrag": "2", "khugepaged/max_ptes_none": "512", "": "never"} {
		if k.Valid(plan.Target{Kind: "thp", Name: name}, value) == nil {
			t.Errorf("%s takes %q", name, value)
		}
	}
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil || os.Geteuid() != 0 {
		t.Skip("the rest takes root and a kernel with transparent huge pages")
	}
	// A setting of the whole host: what is there is written again.
	target := plan.Target{Kind: "thp", Name: "enabled"}
	now, err := k.Read(Real(), target)
	if err == nil {
		err = k.Valid(target, now)
	}
	if err == nil {
		err = k.Write(Real(), target, now)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestSysctlsOfAnInterface(t *testing.T) {
	h := folder(t, map[string]string{"proc/sys/net/ipv4/conf/eth0.100/rp_filter": "1\n"})
	target := plan.Target{Kind: "sysctl", Name: "net.ipv4.conf.eth0.100.rp_filter"}
	k := Kinds["sysctl"]
	if err := k.Valid(target, "2"); err != nil {
		t.Fatal(err)
	}
	if err := k.Write(h, target, "2"); err != nil {
		t.Error(err)
	}
	if got, err := k.Read(h, target); got != "2" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	target.Name = "net.ipv4.conf.eth1.rp_filter"
	if err := k.Write(h, target, "2"); !errors.Is(err, ErrAbsent) {
		t.Errorf("an interface that is gone: %v", err)
	}
	for _, bad := range []string{"net.ipv4.conf...rp_filter", "net.ipv4.conf.../../x.rp_filter", "net.ipv4.conf.a/b.rp_filter", "net.ipv4.conf.*.rp_filter", "net.ipv4.conf..rp_filter",
		"net.ipv4.conf.rp_filter", "net.ipv4.conf.abcdefghijklmnop.rp_filter", "net.ipv4.conf.eth0.route_localnet", "net.ipv4.conf.e 0.rp_filter"} {
		if err := k.Valid(plan.Target{Kind: "sysctl", Name: bad}, "2"); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// TestPairsOfSysctls: of dirty_bytes and dirty_ratio the one that was set last is in
// force, the other reads 0, and 0 can't be written to dirty_bytes.
func TestPairsOfSysctls(t *testing.T) {
	h := folder(t, map[string]string{"proc/sys/vm/dirty_ratio": "20\n", "proc/sys/vm/dirty_bytes": "0\n"})
	k := Kinds["sysctl"]
	bytes, ratio := plan.Target{Kind: "sysctl", Name: "vm.dirty_bytes"}, plan.Target{Kind: "sysctl", Name: "vm.dirty_ratio"}
	old, err := k.Read(h, bytes)
	if old != "vm.dirty_ratio=20" || err != nil {
		t.Errorf("%q, %v", old, err)
	}
	if got, err := k.Read(h, ratio); got != "20" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for value, ok := range map[string]bool{old: true, "100000000": true, "vm.dirty_ratio=101": false, "vm.swappiness=5": false, "0": false, "vm.dirty_ratio=": false} {
		if err := k.Valid(bytes, value); (err == nil) != ok {
			t.Errorf("%q: %v", value, err)
		}
	}
	if err := k.Write(h, bytes, old); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(filepath.Join(h.Proc, "sys/vm/dirty_bytes")); string(b) != "0\n" {
		t.Errorf("dirty_bytes was written: %q", b)
	}
	if !k.Same(plan.Target{Name: "net.netfilter.nf_conntrack_buckets"}, "100000", "100352") || k.Same(plan.Target{Name: "net.netfilter.nf_conntrack_buckets"}, "100000", "100864") {
		t.Error("the kernel rounds buckets up to 512")
	}
}

// TestWhatTheKernelHasIsValid: what this kernel has set must be a value that a plan may
// hold, or undo could not put it back.
func TestWhatTheKernelHasIsValid(t *testing.T) {
	seen := 0
	for _, s := range Sysctls {
		name := strings.Replace(s.Name, "*", "lo", 1)
		target := plan.Target{Kind: "sysctl", Name: name}
		now, err := Kinds["sysctl"].Read(Real(), target)
		if errors.Is(err, ErrAbsent) {
			continue
		}
		if err == nil {
			err = Kinds["sysctl"].Valid(target, now)
		}
		if err != nil {
			t.Errorf("%s is %q here: %v", name, now, err)
		}
		seen++
	}
	if seen < 40 {
		t.Errorf("this kernel has %d of %d sysctls", seen, len(Sysctls))
	}
	t.Logf("this kernel has %d of %d sysctls", seen, len(Sysctls))
	for _, f := range thpFiles {
		target := plan.Target{Kind: "thp", Name: f.Name}
		now, err := Kinds["thp"].Read(Real(), target)
		if err == nil {
			err = Kinds["thp"].Valid(target, now)
		}
		if err != nil && !errors.Is(err, ErrAbsent) {
			t.Errorf("thp %s is %q here: %v", f.Name, now, err)
		}
	}
}

// TestInterruptsOfThisHost writes to each what it has: nothing moves, and those that the
// kernel manages itself say so.
func TestInterruptsOfThisHost(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("interrupts take root")
	}
	if running, err := IRQBalance(Real()); running || err != nil {
		t.Skip("irqbalance runs here: ", err)
	}
	entries, err := os.ReadDir("/proc/irq")
	if err != nil {
		t.Skip("this host shows no interrupts: ", err)
	}
	taken, managed := 0, 0
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil || n < 1 {
			continue
		}
		target := plan.Target{Kind: "irq", IRQ: n}
		now, err := Kinds["irq"].Read(Real(), target)
		if err == nil {
			err = Kinds["irq"].Valid(target, now)
		}
		if err != nil {
			t.Error(err)
			continue
		}
		switch err := Kinds["irq"].Write(Real(), target, now); {
		case err == nil:
			taken++
		case (errors.Is(err, unix.EIO) || errors.Is(err, unix.EPERM)) && strings.Contains(err.Error(), "manages this interrupt itself"):
			managed++
		default:
			t.Error(err)
		}
	}
	t.Logf("%d interrupts took their mask, %d are the kernel's own", taken, managed)
	if taken+managed == 0 && len(entries) > 1 {
		t.Error("no interrupt was tried")
	}
}
