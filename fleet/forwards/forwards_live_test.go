package forwards

import (
	"io"
	"net"
	"net/netip"
	"os/exec"
	"testing"
	"time"

	"snag/internal/netns/netnstest"
)

func TestMain(m *testing.M) { netnstest.Main(m) }

// A connection to a service's address, which nftables leads to a server of this host.
func TestRewrittenByNftables(t *testing.T) {
	for _, args := range [][]string{
		{"ip", "link", "set", "lo", "up"},
		{"ip", "address", "add", "10.0.0.1/32", "dev", "lo"},
		{"ip", "address", "add", "10.0.0.3/32", "dev", "lo"},
		{"ip", "route", "add", "10.96.0.10/32", "dev", "lo", "src", "10.0.0.1"},
		{"nft", "add table ip n; add chain ip n o { type nat hook output priority -100; }; add rule ip n o ip daddr 10.96.0.10 tcp dport 80 dnat to 10.0.0.3:8080"},
	} {
		switch out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); {
		case err != nil && args[0] == "nft":
			t.Skipf("this kernel has no NAT of nftables: %v: %s", err, out)
		case err != nil:
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	l, err := net.Listen("tcp4", "10.0.0.3:8080")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c) }()
		}
	}()
	for range 3 {
		c, err := net.DialTimeout("tcp4", "10.96.0.10:80", 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	direct, err := net.Dial("tcp4", "10.0.0.3:8080")
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	got, err := Read("/proc", "/sys")
	if err != nil {
		t.Fatal(err)
	}
	want := Forward{netip.MustParseAddrPort("10.96.0.10:80"), netip.MustParseAddrPort("10.0.0.3:8080"), 3}
	if len(got) != 1 || got[0] != want {
		t.Errorf("%v, want %v", got, want)
	}
}
