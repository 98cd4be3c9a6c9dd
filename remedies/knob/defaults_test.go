package knob

import (
	"errors"
	"os"
	"testing"

	"snag/remedies/plan"
)

func TestDefaultsByRelease(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		name string
		k    Kernel
		want string
		ok   bool
	}{
		{"net.ipv4.tcp_rmem", Kernel{5, 10, 8 * gib, 4096}, "4096 131072 6291456", true},
		{"net.ipv4.tcp_rmem", Kernel{6, 18, 8 * gib, 4096}, "4096 131072 33554432", true},
		{"net.ipv4.tcp_rmem", Kernel{6, 18, 4 * gib, 4096}, "", false},
		{"net.ipv4.tcp_rmem", Kernel{5, 10, gib / 2, 4096}, "", false},
		{"net.ipv4.tcp_wmem", Kernel{5, 10, 8 * gib, 65536}, "65536 16384 4194304", true},
		{"net.core.rmem_max", Kernel{6, 1, 8 * gib, 4096}, "212992", true},
		{"net.core.rmem_max", Kernel{6, 18, 8 * gib, 4096}, "4194304", true},
		{"net.core.rmem_default", Kernel{6, 1, 8 * gib, 65536}, "", false},
		{"net.ipv4.udp_mem", Kernel{6, 1, 8 * gib, 4096}, "", false},
	} {
		got, ok := computed(c.name, c.k)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s of %+v: %q, %t; want %q, %t", c.name, c.k, got, ok, c.want, c.ok)
		}
	}
}

// Each default is a value that the table takes, and of those that a new namespace has
// from the kernel the very one that it has there.
func TestDefaultsAreTheKernels(t *testing.T) {
	h := Real()
	copied := map[string]bool{"net.ipv4.tcp_rmem": true, "net.ipv4.tcp_wmem": true} // from the host's
	for _, s := range Sysctls {
		v, err := h.Default(s.Name)
		if errors.Is(err, ErrNoDefault) {
			continue
		}
		if err != nil {
			if os.Geteuid() != 0 && fresh[s.Name] {
				continue // making a namespace needs root
			}
			t.Fatal(err)
		}
		if err := s.valid(v); err != nil {
			t.Errorf("%s: the default is not valid: %v", s.Name, err)
		}
		if !s.Netns || copied[s.Name] || os.Geteuid() != 0 {
			continue
		}
		now, err := h.freshDefault(s.Name)
		if errors.Is(err, ErrAbsent) {
			continue
		}
		if err != nil || !(sysctl{}).Same(plan.Target{}, now, v) {
			t.Errorf("%s: %q in a new namespace (%v), and %q by the table", s.Name, now, err, v)
		}
	}
}
