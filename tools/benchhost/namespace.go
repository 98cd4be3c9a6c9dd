package benchhost

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
)

// OwnNamespace is an error where a bench would see or change the machine's own network. It brings up the loopback
// interface of the new one. target is how the bench is run.
func OwnNamespace(target string) error {
	if os.Geteuid() != 0 {
		return errors.New("a network namespace needs root: run it with sudo")
	}
	all, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("list the network interfaces: %w", err)
	}
	for _, i := range all {
		if i.Flags&net.FlagUp != 0 { // in a new namespace none is
			return fmt.Errorf("the interface %s is up, so that this is no new network namespace: run make %[2]s, or unshare --net bin/%[2]s", i.Name, target)
		}
	}
	return IP("link", "set", "lo", "up")
}

// IP runs ip(8).
func IP(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}
