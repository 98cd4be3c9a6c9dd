package lab

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Netns makes a network namespace with its loopback up and returns its name,
// which begins with the stage's prefix.
func (s *Stage) Netns(short string) string {
	name := s.id + "-" + short
	if s.Err() != nil {
		return name
	}
	// Told before it is made: a kill in between must not leave it behind.
	s.remember(item{Kind: kindNetns, Path: name})
	s.Command("", "ip", "netns", "add", name)
	s.Command(name, "ip", "link", "set", "lo", "up")
	return name
}

// End is one end of a link: a device in a namespace with an address.
type End struct {
	Netns  string
	Device string // "eth0"
	Addr   string // "10.77.1.1/24": 10.0.0.0/8 only, and only in namespaces
}

// Veth joins two namespaces by a pair of devices.
func (s *Stage) Veth(a, b End) {
	s.Command("", "ip", "link", "add", a.Device, "netns", a.Netns, "type", "veth",
		"peer", "name", b.Device, "netns", b.Netns)
	for _, e := range []End{a, b} {
		s.Command(e.Netns, "ip", "addr", "add", e.Addr, "dev", e.Device)
		s.Command(e.Netns, "ip", "link", "set", e.Device, "up")
	}
}

// Bridge joins namespaces by a switch, which is in a namespace of its own.
func (s *Stage) Bridge(sw string, ends ...End) {
	s.Command(sw, "ip", "link", "add", "br0", "type", "bridge")
	s.Command(sw, "ip", "link", "set", "br0", "up")
	for i, e := range ends {
		port := fmt.Sprintf("port%d", i)
		s.Command("", "ip", "link", "add", e.Device, "netns", e.Netns, "type", "veth", "peer", "name", port, "netns", sw)
		s.Command(sw, "ip", "link", "set", port, "master", "br0", "up")
		s.Command(e.Netns, "ip", "addr", "add", e.Addr, "dev", e.Device)
		s.Command(e.Netns, "ip", "link", "set", e.Device, "up")
	}
}

// Command runs a command in a namespace to its end.
func (s *Stage) Command(ns string, argv ...string) { s.input(ns, "", argv...) }

// Nft loads a ruleset into a namespace.
func (s *Stage) Nft(ns, rules string) { s.input(ns, rules, "nft", "-f", "-") }

// Output runs a command in a namespace and returns what it printed, for checks.
func (s *Stage) Output(ns string, argv ...string) (string, error) {
	return s.exec(ns, "", argv)
}

func (s *Stage) input(ns, stdin string, argv ...string) {
	if s.Err() != nil {
		return
	}
	if _, err := s.exec(ns, stdin, argv); err != nil {
		s.fail(err)
	}
}

func (s *Stage) exec(ns, stdin string, argv []string) (string, error) {
	ctx, cancel := context.WithTimeout(s.ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(stdin)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := s.spawn.in(ns, cmd.Start); err != nil {
		return "", fmt.Errorf("lab: %s: %w", strings.Join(argv, " "), err)
	}
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("lab: %s (in %s): %w: %s", strings.Join(argv, " "), ns, err, strings.TrimSpace(out.String()))
	}
	return out.String(), nil
}

// Name returns the full name of the namespace that was made under that short one.
func (s *Stage) Name(short string) string { return s.id + "-" + short }

// namespaces returns the inodes of the stage's namespaces and of the one that the
// lab was started in.
func (s *Stage) namespaces() (map[uint64]bool, error) {
	paths := []string{"/proc/self/ns/net"}
	for _, it := range s.made {
		if it.Kind == kindNetns {
			paths = append(paths, filepath.Join("/run/netns", it.Path))
		}
	}
	out := map[uint64]bool{}
	for _, path := range paths {
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil {
			return nil, fmt.Errorf("lab: look at namespace %s: %w", path, err)
		}
		out[st.Ino] = true
	}
	return out, nil
}
