package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// world is where services and their clients are.
type world struct {
	clients string // the network namespace of the clients
	actors  string // the program that they all are
}

// Addresses at both ends of eth0. Netdata and node_exporter leave out lo.
const inside, outside = "10.88.250.1", "10.88.250.2"

// newWorld makes the namespace of the clients and eth0 between it and this one.
func newWorld(o *options) (w world, gone func(), err error) {
	w = world{fmt.Sprintf("bench-record-%d", os.Getpid()), o.lab}
	gone = func() { _ = ip("netns", "del", w.clients) } // eth0 goes with it
	for _, args := range [][]string{
		{"netns", "add", w.clients},
		{"link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", w.clients},
		{"addr", "add", inside + "/24", "dev", "eth0"},
		{"link", "set", "eth0", "up"},
		{"-n", w.clients, "addr", "add", outside + "/24", "dev", "eth0"},
		{"-n", w.clients, "link", "set", "eth0", "up"},
		{"-n", w.clients, "link", "set", "lo", "up"},
	} {
		if err := ip(args...); err != nil {
			gone()
			return w, nil, err
		}
	}
	return w, gone, nil
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}
