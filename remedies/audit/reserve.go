package audit

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"snag/internal/units"
)

// freeReserve: packets are received into memory that can't wait to be freed.
func freeReserve(h host) ([]Risk, string) {
	now, ok := h.number("vm.min_free_kbytes")
	stalls, counted := 0.0, false
	for _, s := range h.r.Series {
		if strings.HasPrefix(s.Name, "node_vmstat_allocstall") {
			n, ok := s.Increase()
			stalls, counted = stalls+n, counted || ok
		}
	}
	switch {
	case !ok || !counted || h.memory == 0:
		return nil, ""
	case stalls == 0:
		return nil, fmt.Sprintf("it is %s, and no allocation had to wait for memory to be freed (allocstall)", units.Bytes(1024*now))
	}
	want := min(2*now, 0.05*h.memory/1024)
	if want <= now {
		return nil, fmt.Sprintf("it is %s, a twentieth of the memory and more already, though %s allocations had to wait", units.Bytes(1024*now), units.Count(stalls))
	}
	return []Risk{{Setting: sysctl("vm.min_free_kbytes", whole(want), fmt.Sprintf("it is %s, and %s allocations had to wait for memory to be freed; receive work can't wait, and drops", units.Bytes(1024*now), units.Count(stalls)), "that much memory stays unused"),
		Source: "Documentation/admin-guide/sysctl/vm.rst (min_free_kbytes)", Shows: "allocstall in /proc/vmstat, page allocation failures in dmesg: snag find names it memory-fragmentation"}}, ""
}

// udpMemory: all sockets of UDP together.
func udpMemory(h host) ([]Risk, string) {
	v, ok := h.numbers("net.ipv4.udp_mem", 3)
	used := -1.0
	for _, s := range h.r.Select("node_sockstat_UDP_mem") {
		if n, ok := s.Max(); ok {
			used = max(used, n)
		}
	}
	if !ok || used < 0 {
		return nil, ""
	}
	page := float64(os.Getpagesize())
	if used < 0.5*v[1] {
		return nil, fmt.Sprintf("all UDP sockets hold %s of %s", units.Bytes(used*page), units.Bytes(v[1]*page))
	}
	return []Risk{{Setting: sysctl("net.ipv4.udp_mem", whole(2*v[0])+" "+whole(2*v[1])+" "+whole(2*v[2]), fmt.Sprintf("all UDP sockets hold %s of %s: at twice that datagrams are dropped whatever a socket's own buffer", units.Bytes(used*page), units.Bytes(v[1]*page)), "memory that others need"),
		Source: "Documentation/networking/ip-sysctl.rst (udp_mem)", Shows: "Udp MemErrors in nstat grows"}}, ""
}

// limits: descriptors of who reads or sends datagrams.
func limits(h host) ([]Risk, string) {
	holds := map[int]bool{}
	for _, k := range h.r.Sockets {
		for _, o := range k.Owners {
			if k.Proto == "udp" {
				holds[o.PID] = true
			}
		}
	}
	text := ""
	for _, p := range slices.Backward(h.r.Processes) {
		if !holds[p.PID] || p.FDs == nil || p.FDLimit <= 0 || p.Self {
			continue
		}
		if 2**p.FDs >= p.FDLimit {
			return descriptorsOf(p), ""
		}
		text = fmt.Sprintf("%s[%d] has %d of %d descriptors open", p.Comm, p.PID, *p.FDs, p.FDLimit)
	}
	return nil, text
}
