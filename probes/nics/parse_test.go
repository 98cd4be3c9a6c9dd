package nics

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/internal/procfile"
	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

func TestReadsInterruptsAsNodeExporterDoes(t *testing.T) {
	found := map[string]string{}
	total := map[string]uint64{}
	err := procfile.EachCPU(fixture(t, "interrupts"), func(cpus []int, l procfile.PerCPU) {
		if len(cpus) != 2 || cpus[1] != 1 {
			t.Fatalf("cpus %v", cpus)
		}
		info, devices, last := procfile.Actions(l.Kind, l.Rest)
		found[l.Kind] = info + "|" + devices + "|" + last
		for _, v := range l.Values {
			total[l.Kind] += v
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if found["38"] != "PCI-MSIX-0000:00:03.0|1-edge virtio2-input.0|virtio2-input.0" || total["38"] == 0 {
		t.Errorf("interrupt 38 is %q, %d", found["38"], total["38"])
	}
	if found["LOC"] != "|Local timer interrupts|interrupts" {
		t.Errorf("LOC is %q", found["LOC"])
	}
	if _, there := found["ERR"]; there {
		t.Error("ERR is not a counter for each CPU")
	}
}

func TestReadsSoftirqs(t *testing.T) {
	seen := map[string]int{}
	if err := procfile.EachCPU(fixture(t, "softirqs"), func(_ []int, l procfile.PerCPU) { seen[l.Kind] = len(l.Values) }); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 10 || seen["NET_RX"] != 2 {
		t.Errorf("read %v", seen)
	}
}

func TestAFileOfAnotherKindIsAnError(t *testing.T) {
	for _, text := range []string{"", "\n", "x y\n", "CPU-1\n", "CPU0 cpu1\n"} {
		if procfile.EachCPU([]byte(text), func([]int, procfile.PerCPU) {}) == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// wide is /proc/interrupts of a host with 256 CPUs of which 8 are offline, as
// kernel/irq/proc.c writes it: 600 lines, most of them still. grown is added to
// the counts of the lines of a card with 64 queues, each on its own CPU.
func wide(grown int) []byte {
	var b strings.Builder
	b.WriteString("           ")
	var ids []int
	for c := range 256 {
		if c%32 != 31 {
			ids = append(ids, c)
			fmt.Fprintf(&b, "CPU%-8d", c)
		}
	}
	b.WriteByte('\n')
	for irq := range 600 {
		fmt.Fprintf(&b, "%3d:", irq)
		for i := range ids {
			n := 0
			if irq < 64 && i == irq {
				n = 5 + grown
			}
			fmt.Fprintf(&b, " %10d", n)
		}
		fmt.Fprintf(&b, " IR-PCI-MSI %d-edge      mlx5_comp%d@pci:0000:41:00.0\n", irq, irq)
	}
	return []byte(b.String())
}

func TestOf256CPUsOnlyWhatGrowsIsWritten(t *testing.T) {
	sink, tb := probetest.NewSink(), newTable(maxInterruptSeries)
	for second := range 3 {
		at := recording.Time(time.Duration(1+second) * time.Second)
		err := procfile.EachCPU(wide(1000*second), func(cpus []int, l procfile.PerCPU) {
			tb.line(sink, at, "node_interrupts_total", l.Kind, l.Values, func(i int) recording.Labels {
				return recording.Labels{"cpu": fmt.Sprint(cpus[i]), "type": l.Kind}
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	r := sink.Recording()
	if len(r.Series) != 64 {
		t.Fatalf("%d series, want the 64 that grew", len(r.Series))
	}
	// The 32nd column is CPU 32: 31 is offline.
	s := r.Select("node_interrupts_total", "type", "31")
	if len(s) != 1 || s[0].Labels["cpu"] != "32" || len(s[0].Points) != 3 || s[0].Points[0].V != 5 {
		t.Errorf("interrupt 31: %+v", s)
	}
	if n, _ := s[0].Increase(); n != 2000 {
		t.Errorf("it grew by %v", n)
	}
}

func TestATableHasABound(t *testing.T) {
	sink, tb := probetest.NewSink(), newTable(2)
	label := func(i int) recording.Labels { return recording.Labels{"cpu": fmt.Sprint(i)} }
	tb.line(sink, 1e9, "x", "a", []uint64{1, 1, 1}, label)
	tb.line(sink, 2e9, "x", "a", []uint64{2, 2, 2}, label)
	tb.line(sink, 3e9, "x", "a", []uint64{3, 3}, label) // a CPU went: it begins again
	if got := len(sink.Recording().Series); got != 2 || tb.left != 1 {
		t.Errorf("%d series and %d left, want 2 and 1", got, tb.left)
	}
}

func FuzzPerCPU(f *testing.F) {
	f.Add([]byte("  CPU0 CPU1\n 38: 1 2 PCI 1-edge eth0\nLOC: 1 2 Local\nERR: 0\n"))
	f.Add([]byte("CPU0\n:1\n : 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = procfile.EachCPU(data, func(cpus []int, l procfile.PerCPU) {
			if len(l.Values) != len(cpus) || l.Kind == "" {
				t.Errorf("%d values of %d CPUs for %q", len(l.Values), len(cpus), l.Kind)
			}
			procfile.Actions(l.Kind, l.Rest)
		})
	})
}

// A runtime mounts /dev/null over the file: that is no fault of snag's, and no count of 0.
func TestHiddenInterrupts(t *testing.T) {
	proc := t.TempDir()
	if err := os.WriteFile(filepath.Join(proc, "interrupts"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	hidden := interrupts{env: &probe.Env{Proc: proc}, table: newTable(maxInterruptSeries)}
	var no *probe.Unavailable
	if err := hidden.measure(0); !errors.As(err, &no) || !strings.Contains(no.Cure, "systempaths=unconfined") {
		t.Errorf("%v", err)
	}
}
