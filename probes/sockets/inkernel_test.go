package sockets

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"snag/internal/kernel"
)

func TestOneRefusedProgramCostsItsOwnMeasureOnly(t *testing.T) {
	if l := kernel.CanLoad("/proc", "/sys"); l != nil {
		t.Skip(l)
	}
	types, err := kernel.Types()
	if err != nil {
		t.Fatal(err)
	}
	spec, err := loadKernel()
	if err != nil {
		t.Fatal(err)
	}
	// A program that returns without a value: no verifier takes it. It is the
	// second of two, so that the first is already at work.
	spec.Programs[kernelProgReceived].Instructions = asm.Instructions{asm.Return()}
	k, err := load(spec, types, sweepHere())
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	l := k.lacks["sockets.holds"]
	if l == nil || !strings.Contains(l.Why, "tcp_probe") {
		t.Errorf("lack of holds: %v", l)
	}
	if len(k.links["sockets.holds"]) != 0 || slices.ContainsFunc(k.often, func(a *attached) bool { return a.measure == "sockets.holds" }) {
		t.Error("one program of a measure that was given up goes on")
	}
	for _, m := range []string{"sockets.connections", "sockets.resets", "sockets.signals"} {
		if k.lacks[m] != nil || len(k.links[m]) == 0 {
			t.Errorf("%s was lost with it: %v", m, k.lacks[m])
		}
	}
	if len(k.links["sockets.resets"]) != 2 {
		t.Errorf("%d programs count resets, want 2", len(k.links["sockets.resets"]))
	}
}

func TestMissingTracepointNamesTheKernelThatHasIt(t *testing.T) {
	if _, err := os.Stat("/sys" + kernel.BTFPath); err != nil {
		t.Skip("no BTF here: ", err)
	}
	types, err := kernel.Types()
	if err != nil {
		t.Fatal(err)
	}
	lacks := missing(types, append([]hook{{program: "x", tracepoint: "sock_no_such_thing", measure: "sockets.holds", since: "6.3"}}, hooks[3:4]...))
	l := lacks["sockets.holds"]
	if len(lacks) != 1 || l == nil || !strings.Contains(l.Why, "sock_no_such_thing") || !strings.Contains(l.Cure, "6.3") {
		t.Errorf("%v", lacks)
	}
}

// Kernels before 6.3 get the programs without turns: the branches that count connections differ.
// Nothing is attached.
func TestConnectionsAreAcceptedWithoutTurns(t *testing.T) {
	if l := kernel.CanLoad("/proc", "/sys"); l != nil {
		t.Skip(l)
	}
	types, err := kernel.Types()
	if err != nil {
		t.Fatal(err)
	}
	spec, err := loadKernel()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := configure(spec, types, nanotime(), false); err != nil {
		t.Fatal(err)
	}
	for name := range spec.Programs {
		if !slices.Contains([]string{kernelProgSetState, kernelProgReceiveReset, kernelProgSendReset, kernelProgRetransmit}, name) {
			delete(spec.Programs, name)
		}
	}
	maps, err := ebpf.NewCollectionWithOptions(spec, relocatedBy(types))
	if err != nil {
		t.Fatal(err)
	}
	defer maps.Close()
	if len(maps.Programs) != 4 {
		t.Errorf("%d programs, want 4", len(maps.Programs))
	}
}
