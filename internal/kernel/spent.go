package kernel

import (
	"fmt"
	"time"

	"github.com/cilium/ebpf"
)

// Spent is the CPU time that the programs of a probe have taken so far, on each CPU, by
// what a run is known to cost (probes/bpf/spent.h).
func Spent(m *ebpf.Map, what string) ([]time.Duration, error) {
	var ns []uint64
	if err := m.Lookup(uint32(0), &ns); err != nil {
		return nil, fmt.Errorf("read what the BPF programs of %s took: %w", what, err)
	}
	out := make([]time.Duration, len(ns))
	for i, n := range ns {
		out[i] = time.Duration(n)
	}
	return out, nil
}
