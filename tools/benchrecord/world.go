package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
)

// ownNamespace is an error where the recorders would see the machine's own network, and
// the incidents could harm it. Recorders read the network of the namespace that they run
// in: in one together with the load and the incidents, each of them sees all of it.
func ownNamespace() error {
	if os.Geteuid() != 0 {
		return errors.New("network namespaces and the recorders need root: run it with sudo")
	}
	all, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("list the network interfaces: %w", err)
	}
	for _, i := range all {
		if i.Flags&net.FlagUp != 0 { // in a new namespace none is
			return fmt.Errorf("the interface %s is up, so that this is no new network namespace: run make bench-record, or unshare --net bin/bench-record", i.Name)
		}
	}
	return ip("link", "set", "lo", "up")
}

// Addresses at both ends of eth0. Netdata and node_exporter leave out lo.
const inside, outside = "10.88.250.1", "10.88.250.2"

// newWorld makes the namespace of the clients, and eth0 between it and this one.
func newWorld() (clients string, gone func(), err error) {
	clients = fmt.Sprintf("bench-record-%d", os.Getpid())
	gone = func() { _ = ip("netns", "del", clients) } // eth0 goes with it
	for _, args := range [][]string{
		{"netns", "add", clients},
		{"link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", clients},
		{"addr", "add", inside + "/24", "dev", "eth0"},
		{"link", "set", "eth0", "up"},
		{"-n", clients, "addr", "add", outside + "/24", "dev", "eth0"},
		{"-n", clients, "link", "set", "eth0", "up"},
		{"-n", clients, "link", "set", "lo", "up"},
	} {
		if err := ip(args...); err != nil {
			gone()
			return "", nil, err
		}
	}
	return clients, gone, nil
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}
