package netnstest

import (
	"net"
	"os"
	"testing"
)

// The machine's namespace has a way out or another interface; the test's has loopback
// alone, and it works.
func TestAlone(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to make a network namespace")
	}
	here, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	if first := os.Getenv("SNAG_TEST_FIRST"); first != "" && first == here {
		t.Fatal("the namespace is the same")
	}
	t.Setenv("SNAG_TEST_FIRST", here)
	if Alone(t) {
		return
	}
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 {
			t.Errorf("%s is up", i.Name)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
