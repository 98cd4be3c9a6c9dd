package main

import (
	"fmt"
	"os"

	"snag/tools/benchhost"
)

// Addresses at both ends of eth0. Netdata and node_exporter leave out lo.
const inside, outside = "10.88.250.1", "10.88.250.2"

// newWorld makes the namespace of the clients, and eth0 between it and this one.
func newWorld() (clients string, gone func(), err error) {
	clients = fmt.Sprintf("bench-record-%d", os.Getpid())
	gone = func() { _ = benchhost.IP("netns", "del", clients) } // eth0 goes with it
	for _, args := range [][]string{
		{"netns", "add", clients},
		{"link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", clients},
		{"addr", "add", inside + "/24", "dev", "eth0"},
		{"link", "set", "eth0", "up"},
		{"-n", clients, "addr", "add", outside + "/24", "dev", "eth0"},
		{"-n", clients, "link", "set", "eth0", "up"},
		{"-n", clients, "link", "set", "lo", "up"},
	} {
		if err := benchhost.IP(args...); err != nil {
			gone()
			return "", nil, err
		}
	}
	return clients, gone, nil
}
