package main

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"snag/probes/sockets/diag"
)

// established counts the established connections that have an address at one end, as this host sees them. A connection
// with both ends here counts once. Connections of snag's own (a watched stream) do not count: they do not end.
func established(address string) (int, error) {
	want, err := addressesOf(address)
	if err != nil {
		return 0, err
	}
	conn, err := diag.Open()
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	own := ownSockets()
	ours := map[[2]string]bool{} // by the two ends, the lesser first
	for _, kind := range []diag.Kind{diag.TCP4, diag.TCP6} {
		err := conn.Dump(kind, 1<<diag.Established, func(f diag.Found) {
			if !want[f.Local] && !want[f.Remote] {
				return
			}
			ends := [2]string{min(f.Local, f.Remote), max(f.Local, f.Remote)}
			ours[ends] = ours[ends] || own[uint64(f.Inode)]
		})
		if err != nil {
			return 0, err
		}
	}
	n := 0
	for _, own := range ours {
		if !own {
			n++
		}
	}
	return n, nil
}

// addressesOf are the addresses of HOST:PORT, as diag writes them.
func addressesOf(address string) (map[string]bool, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("count the connections of %s: %w", address, err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("count the connections of %s: the port is not a number", address)
	}
	ips, err := net.LookupHost(host)
	if err != nil {
		return nil, fmt.Errorf("count the connections of %s: %w", address, err)
	}
	out := map[string]bool{}
	for _, text := range ips {
		if ip, err := netip.ParseAddr(text); err == nil {
			out[netip.AddrPortFrom(ip.Unmap(), uint16(n)).String()] = true
		}
	}
	return out, nil
}

// ownSockets are the inodes of this process' sockets.
func ownSockets() map[uint64]bool {
	out := map[uint64]bool{}
	links, _ := filepath.Glob("/proc/self/fd/*") // no /proc: none is left out
	for _, link := range links {
		to, err := os.Readlink(link)
		text, is := strings.CutPrefix(to, "socket:[")
		if err != nil || !is {
			continue
		}
		if n, err := strconv.ParseUint(strings.TrimSuffix(text, "]"), 10, 64); err == nil {
			out[n] = true
		}
	}
	return out
}
