package load

import (
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func aSocket(t *testing.T) int {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

func option(t *testing.T, fd, level, name int) int {
	t.Helper()
	n, err := unix.GetsockoptInt(fd, level, name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Each option is on the socket as the kernel reads it back; what is not asked for is as the kernel has it.
func TestSocketOptions(t *testing.T) {
	t.Parallel()
	plain, set := aSocket(t), aSocket(t)
	yes := true
	all := SocketOptions{NoDelay: &yes, SendBuffer: 30_000, ReceiveBuffer: 40_000, Congestion: "reno", MaxSegment: 1000}
	if err := all.Set(set, "tcp"); err != nil {
		t.Fatal(err)
	}
	if err := (SocketOptions{}).Set(plain, "tcp"); err != nil {
		t.Fatal(err)
	}
	for _, o := range []struct {
		name      string
		level, at int
		want      int
	}{
		{"TCP_NODELAY", unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
		{"SO_SNDBUF", unix.SOL_SOCKET, unix.SO_SNDBUF, 60_000}, // the kernel doubles it (socket(7))
		{"SO_RCVBUF", unix.SOL_SOCKET, unix.SO_RCVBUF, 80_000},
	} {
		if got := option(t, set, o.level, o.at); (got != 0) != (o.want != 0) || o.want > 1 && got != o.want {
			t.Errorf("%s is %d, want %d", o.name, got, o.want)
		}
		if o.want > 1 && option(t, plain, o.level, o.at) == o.want {
			t.Errorf("%s was set without being asked for", o.name)
		}
	}
	if option(t, plain, unix.IPPROTO_TCP, unix.TCP_NODELAY) != 0 {
		t.Error("TCP_NODELAY was set without being asked for")
	}
	if name, err := unix.GetsockoptString(set, unix.IPPROTO_TCP, unix.TCP_CONGESTION); err != nil || name != "reno" {
		t.Errorf("congestion control %q, %v", name, err)
	}
	err := SocketOptions{Congestion: "nothing"}.Set(aSocket(t), "tcp")
	if err == nil || !strings.Contains(err.Error(), "set TCP_CONGESTION nothing: no such file or directory: choose one of sysctl net.ipv4.tcp_allowed_congestion_control") {
		t.Errorf("an algorithm that is not there: %v", err)
	}
}

// Busy polling takes CAP_NET_ADMIN to raise.
func TestBusyPoll(t *testing.T) {
	t.Parallel()
	fd := aSocket(t)
	switch err := (SocketOptions{BusyPoll: 25}).Set(fd, "tcp"); {
	case err != nil && strings.Contains(err.Error(), "set SO_BUSY_POLL: operation not permitted"):
		t.Skip("it needs CAP_NET_ADMIN")
	case err != nil:
		t.Fatal(err)
	}
	if got := option(t, fd, unix.SOL_SOCKET, unix.SO_BUSY_POLL); got != 25 {
		t.Errorf("SO_BUSY_POLL is %d", got)
	}
}

// A thread stays where it is pinned, and one that is not pinned is left alone.
func TestPin(t *testing.T) {
	t.Parallel()
	allowed := func() (set unix.CPUSet) {
		if err := unix.SchedGetaffinity(0, &set); err != nil {
			t.Fatal(err)
		}
		return set
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with it
		before := allowed()
		first := 0
		for !before.IsSet(first) {
			first++
		}
		if err := Pin(-1); err != nil || allowed() != before {
			t.Errorf("anywhere: %v", err)
		}
		if err := Pin(first); err != nil {
			t.Errorf("CPU %d: %v", first, err)
		}
		if now := allowed(); now.Count() != 1 || !now.IsSet(first) {
			t.Errorf("on %d CPUs", now.Count())
		}
		if err := Pin(1023); err == nil || !strings.Contains(err.Error(), "stay on CPU 1023") {
			t.Errorf("a CPU that is not there: %v", err)
		}
	}()
	<-done
}
