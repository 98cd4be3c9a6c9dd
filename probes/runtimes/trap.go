package runtimes

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"snag/probes/probe"
)

const (
	// usualTrap is what a breakpoint costs the thread that runs into it, s, where that
	// could not be measured: on hardware 1 to 3 µs, in a virtual machine in another 20.
	usualTrap = 5e-6
	trials    = 64
)

//go:noinline
func trapped(n int) int { return n + 1 }

// measureTrap has snag run into a breakpoint of its own, and returns what each time
// costs, s of CPU time. The caller is locked to its thread.
func measureTrap(with *ebpf.Program) (float64, error) {
	offset, err := ownOffset(reflect.ValueOf(trapped).Pointer())
	if err != nil {
		return usualTrap, err
	}
	exe, err := link.OpenExecutable("/proc/self/exe")
	if err != nil {
		return usualTrap, fmt.Errorf("read snag's own program: %w", err)
	}
	l, err := exe.Uprobe("trapped", with, &link.UprobeOptions{Address: offset, PID: os.Getpid()})
	if err != nil {
		return usualTrap, fmt.Errorf("attach to snag itself: %w", err)
	}
	defer l.Close()
	n := trapped(0) // the first makes the page snag's own
	before := probe.ThreadCPU()
	for range trials {
		n = trapped(n)
	}
	return (probe.ThreadCPU() - before) / trials, nil
}

// ownOffset is where in its file an address of snag's own code lies.
func ownOffset(address uintptr) (uint64, error) {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return 0, fmt.Errorf("read what snag has mapped: %w", err)
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var start, end, offset uint64
		var perms string
		n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s %x", &start, &end, &perms, &offset)
		if n == 4 && strings.Contains(perms, "x") && uint64(address) >= start && uint64(address) < end {
			return uint64(address) - start + offset, nil
		}
	}
	return 0, fmt.Errorf("find snag's own code at %#x: it is not mapped", address)
}
