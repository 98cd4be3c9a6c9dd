package threads

import (
	"os"
	"runtime"
	"testing"
)

// The fixtures are a relay's thread that blocks in sendto on descriptor 3, its
// first thread, asleep and stopped, and a spinning program; kernel 6.18, amd64.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/6.18/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseStat(t *testing.T) {
	for file, want := range map[string][2]string{
		"sendto-stat": {"relay (out) 7", "S"}, "sleep-stat": {"python3", "S"}, "stopped-stat": {"python3", "T"},
	} {
		comm, state, err := ParseStat(fixture(t, file))
		if err != nil || comm != want[0] || state != want[1] {
			t.Errorf("%s: %q %q %v, want %q", file, comm, state, err, want)
		}
	}
	for _, bad := range []string{"", "12 (a", "12 (a)", "12 (a) ", ")(", "12 a S"} {
		if _, _, err := ParseStat([]byte(bad)); err == nil {
			t.Errorf("%q gave no error", bad)
		}
	}
}

// amd64 holds the numbers of the fixtures' calls: the tables of the tests'
// machine may be another architecture's.
var amd64 = map[int]string{0: "read", 44: "sendto", 202: "futex", 230: "clock_nanosleep", 257: "openat", 232: "epoll_wait"}

func TestParseSyscall(t *testing.T) {
	for _, c := range []struct {
		text string
		want call
	}{
		{string(fixture(t, "sendto-syscall")), call{name: "sendto", fd: 3}},
		{string(fixture(t, "sleep-syscall")), call{name: "clock_nanosleep", fd: -1}},
		{string(fixture(t, "stopped-syscall")), call{name: "clock_nanosleep", fd: -1}},
		{string(fixture(t, "running-syscall")), call{name: "running", fd: -1}},
		{"-1 0x7ffc9d1f5c40 0x7f2a2ec0d4b7\n", call{name: "none", fd: -1}},
		// pthread_mutex_lock, pthread_cond_wait, pthread_cond_timedwait, FUTEX_WAKE,
		// FUTEX_LOCK_PI; glibc 2.36.
		{"202 0x55d2a0c040a0 0x80 0x2 0x0 0x0 0x0 0x1 0x2", call{name: "futex", fd: -1, futex: 0x55d2a0c040a0, lock: true}},
		{"202 0x55d2a0c04128 0x189 0x0 0x0 0x0 0xffffffff 0x1 0x2", call{name: "futex", fd: -1, futex: 0x55d2a0c04128}},
		{"202 0x55d2a0c04128 0x89 0x6 0x0 0x0 0xffffffff 0x1 0x2", call{name: "futex", fd: -1, futex: 0x55d2a0c04128}},
		{"202 0x55d2a0c04128 0x81 0x1 0x0 0x0 0x0 0x1 0x2", call{name: "futex", fd: -1}},
		{"202 0x55d2a0c04128 0x86 0x0 0x0 0x0 0x0 0x1 0x2", call{name: "futex", fd: -1, futex: 0x55d2a0c04128, lock: true}},
		{"257 0xffffff9c 0x0 0x0 0x0 0x0 0x0 0x1 0x2", call{name: "openat", fd: -1}},
		{"0 0xffffffffffffffff 0x0 0x0 0x0 0x0 0x0 0x1 0x2", call{name: "read", fd: -1}},
		{"0 0xdeadbeef00000007 0x0 0x0 0x0 0x0 0x0 0x1 0x2", call{name: "read", fd: 7}}, // an int in a register
		{"999 0x7 0x0 0x0 0x0 0x0 0x0 0x1 0x2", call{name: "syscall_999", fd: -1}},
	} {
		got, err := parseSyscall([]byte(c.text), amd64, never)
		if err != nil || got != c.want {
			t.Errorf("%q: %+v %v, want %+v", c.text, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "\n", "x 0x1", "0", "0 zz", "202 0x1 0x2", "202 0x1 zz 0x2"} {
		if got, err := parseSyscall([]byte(bad), amd64, never); err == nil {
			t.Errorf("%q gave no error but %+v", bad, got)
		}
	}
}

func TestParseWchan(t *testing.T) {
	for text, want := range map[string]string{
		string(fixture(t, "sendto-wchan")): "sock_alloc_send_pskb", string(fixture(t, "stopped-wchan")): "do_signal_stop",
		"0": "", "": "", "poll_schedule_timeout.constprop.0": "poll_schedule_timeout",
	} {
		if got := parseWchan([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestParseStack(t *testing.T) {
	for text, want := range map[string]string{
		string(fixture(t, "sendto-stack")): "sock_alloc_send_pskb",
		"[<0>] __schedule+0x282/0x870\n[<0>] schedule+0x46/0xb0\n[<0>] schedule_timeout+0x8b/0x150\n[<0>] wait_woken+0x6b/0x80\n": "wait_woken",
		"[<0>] do_signal_stop.part.0+0x1/0x2\n": "do_signal_stop",
		"":                                      "",
		"[<0>] ":                                "",
		"garbage":                               "",
	} {
		if got := parseStack([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestParseSched(t *testing.T) {
	got, err := parseSchedstat(fixture(t, "sendto-schedstat"))
	if want := (schedstat{0.000321354, 0.000323945, 4}); err != nil || got != want {
		t.Errorf("schedstat: %+v %v, want %+v", got, err, want)
	}
	v, i, err := parseSwitches(fixture(t, "sleep-status"))
	if err != nil || v != 22 || i != 24 {
		t.Errorf("switches: %d %d %v", v, i, err)
	}
	for _, bad := range []string{"", "1 2", "-1 2 3", "1 x 3"} {
		if _, err := parseSchedstat([]byte(bad)); err == nil {
			t.Errorf("schedstat %q gave no error", bad)
		}
	}
	for _, bad := range []string{"", "\nvoluntary_ctxt_switches:\t1\n", "\nvoluntary_ctxt_switches:\tx\nnonvoluntary_ctxt_switches:\t1\n"} {
		if _, _, err := parseSwitches([]byte(bad)); err == nil {
			t.Errorf("status %q gave no error", bad)
		}
	}
}

// TestTables checks the generated names against those calls that every suspect
// depends on.
func TestTables(t *testing.T) {
	if syscallNames == nil {
		t.Skip("no table of this architecture")
	}
	known := map[string]bool{}
	for _, n := range syscallNames {
		known[n] = true
	}
	for _, n := range []string{"read", "write", "sendto", "recvfrom", "futex", "accept4", "epoll_pwait", "ppoll"} {
		if !known[n] {
			t.Errorf("no %s among %d calls", n, len(known))
		}
	}
	for n, want := range map[string]bool{"read": true, "sendto/32": true, "accept4": true, "futex": false, "ppoll": false, "openat": false} {
		if fd, ok := Descriptor(n, 5); ok != want || ok && fd != 5 {
			t.Errorf("%s with 5 first: descriptor %d, %v", n, fd, ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, n := range []string{"sendto-stat", "sendto-syscall", "running-syscall", "sendto-wchan", "sendto-schedstat", "sendto-status"} {
		f.Add(fixture(f, n))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, state, err := ParseStat(b); err == nil && len(state) != 1 {
			t.Errorf("state %q", state)
		}
		if in, err := parseSyscall(b, amd64, never); err == nil && (in.fd < -1 || in.name == "" || in.lock && in.name != "futex") {
			t.Errorf("syscall %+v", in)
		}
		if s, err := parseSchedstat(b); err == nil && (s.onCPU < 0 || s.delay < 0) {
			t.Errorf("schedstat %+v", s)
		}
		parseWchan(b)
		parseStack(b)
		_, _, _ = parseSwitches(b)
	})
}

func never(Registers) bool { return false }

// TestOtherNumbers has numbers of another table named by it: of a 32-bit program, and
// of x32.
func TestOtherNumbers(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("numbers of amd64")
	}
	const low = " 0x5 0x0 0x0 0x0 0x0 0x0 0xffaa0000 0xf7f00000"
	for _, c := range []struct {
		text, want string
		compat     bool
		fd         int
	}{
		{"3" + low, "read/32", true, 5},
		{"3" + low, "close", false, 5},
		{"1073741824" + low, "read/x32", false, 5},
	} {
		got, err := parseSyscall([]byte(c.text), syscallNames, func(Registers) bool { return c.compat })
		if err != nil || got.name != c.want || got.fd != c.fd {
			t.Errorf("%q of a 32-bit program %v: %q on %d, %v; want %q", c.text, c.compat, got.name, got.fd, err, c.want)
		}
	}
}

// TestCompatByItsFile looks at the program where the stack lies low.
func TestCompatByItsFile(t *testing.T) {
	dir := t.TempDir()
	for name, head := range map[string]string{"32": "\x7fELF\x01\x01", "64": "\x7fELF\x02\x01", "script": "#!/bin/sh"} {
		if err := os.WriteFile(dir+"/"+name, []byte(head), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		r    Registers
		exe  string
		want bool
	}{
		{Registers{Call: 3, SP: 0xffaa0000}, "32", true},
		{Registers{Call: 3, SP: 0xffaa0000}, "64", false},
		{Registers{Call: 3, SP: 0xffaa0000}, "script", false},
		{Registers{Call: 3, SP: 0xffaa0000}, "none", false},
		{Registers{Call: 3, SP: 0x7ffd00000000}, "32", false}, // a 64-bit program has been executed since
		{Registers{Call: 3 | x32Bit, SP: 0xffaa0000}, "32", false},
	} {
		if got := c.r.Compat(dir + "/" + c.exe); got != c.want {
			t.Errorf("%+v of %s: %v", c.r, c.exe, got)
		}
	}
}
