package strace

import (
	"encoding/binary"
	"fmt"
	"testing"
)

func TestLinesAreToldApart(t *testing.T) {
	for _, c := range []struct {
		in    string
		kind  Kind
		pid   int
		name  string
		args  string
		ret   int64
		errno string
		took  int64
		style Style
		stamp int64
	}{
		{`read(3, "abc", 10) = 3`, Call, 0, "read", `3, "abc", 10`, 3, "", -1, NoTime, 0},
		{`close(3)                                = 0 <0.000012>`, Call, 0, "close", "3", 0, "", 12e3, NoTime, 0},
		{`[pid  1234] 12:00:01.000002 read(3, "", 10) = 0 <0.000012345>`, Call, 1234, "read", `3, "", 10`, 0, "", 12345, TimeOfDay, 43201e9 + 2e3},
		{`1234  1700000000.123456 openat(AT_FDCWD, "/x", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000010>`, Call, 1234, "openat", `AT_FDCWD, "/x", O_RDONLY`, -1, "ENOENT", 10e3, Epoch, 1700000000123456e3},
		{`1234       0.000123 getpid() = 1234`, Call, 1234, "getpid", "", 1234, "", -1, Relative, 123e3},
		{`     0.000123 getpid() = 1234`, Call, 0, "getpid", "", 1234, "", -1, Relative, 123e3},
		{`12:00:00 (+     0.000123) getpid() = 1`, Call, 0, "getpid", "", 1, "", -1, TimeOfDay, 43200e9},
		{`open("a) = 3 <0.5>", O_RDONLY) = 4 <0.000001>`, Call, 0, "open", `"a) = 3 <0.5>", O_RDONLY`, 4, "", 1e3, NoTime, 0},
		{`openat(AT_FDCWD</w>, "a", O_RDONLY) = 4</w/a) = 3 <0.5>> <0.000001>`, Call, 0, "openat", `AT_FDCWD</w>, "a", O_RDONLY`, 4, "", 1e3, NoTime, 0},
		{`poll([{fd=3, events=POLLIN}], 1, 500) = 0 (Timeout) <0.500000>`, Call, 0, "poll", `[{fd=3, events=POLLIN}], 1, 500`, 0, "", 5e8, NoTime, 0},
		{`mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, -1, 0) = 0x7f1234`, Call, 0, "mmap", `NULL, 8192, PROT_READ, MAP_PRIVATE, -1, 0`, 0x7f1234, "", -1, NoTime, 0},
		{`[pid 7<nginx>] [00007f0011223344] [   0] read(3<TCP:[1.2.3.4:5->6.7.8.9:10]>, "x", 1) = 1`, Call, 7, "read", `3<TCP:[1.2.3.4:5->6.7.8.9:10]>, "x", 1`, 1, "", -1, NoTime, 0},
		{`8 read(5, <unfinished ...>`, Unfinished, 8, "read", "5, ", 0, "", -1, NoTime, 0},
		{`8 <... read resumed>"abc", 3) = 3 <1.5>`, Resumed, 8, "read", `"abc", 3`, 3, "", 15e8, NoTime, 0},
		{`8 <... read resumed> "abc", 3) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)`, Resumed, 8, "read", ` "abc", 3`, 0, "ERESTARTSYS", -1, NoTime, 0},
		{`restart_syscall(<... resuming interrupted read ...>) = 1 <0.5>`, Call, 0, "restart_syscall", "<... resuming interrupted read ...>", 1, "", 5e8, NoTime, 0},
		{`7 restart_syscall(<... resuming interrupted futex ...> <unfinished ...>`, Unfinished, 7, "restart_syscall", "<... resuming interrupted futex ...> ", 0, "", -1, NoTime, 0},
		{`7 read(0,  <unfinished ...>)              = ?`, Call, 7, "read", "0,  <unfinished ...>", 0, "", -1, NoTime, 0},
		{`7 12:00:01.5 <... futex resumed>)         = ?`, Resumed, 7, "futex", "", 0, "", -1, TimeOfDay, 43201.5e9},
		{`[pid  7] clone3({flags=CLONE_VM, exit_signal=0strace: Process 9 attached`, Unfinished, 7, "clone3", "{flags=CLONE_VM, exit_signal=0", 0, "", -1, NoTime, 0},
		{` <unfinished ...>`, Message, 0, "", "", 0, "", -1, NoTime, 0},
		{`, parent_tid=[9]) = 9 <0.000100>`, Continued, 0, "", ", parent_tid=[9]", 9, "", 1e5, NoTime, 0},
		{`8 <... clone3 resumed> <unfinished ...>`, Message, 8, "clone3", " ", 0, "", -1, NoTime, 0},
		{`[pid  8] <... clone3 resumed>strace: Process 9 attached`, Message, 8, "clone3", "", 0, "", -1, NoTime, 0},
		{`8 <... munmap resumed>) = ? <unavailable>`, Resumed, 8, "munmap", "", 0, "", -1, NoTime, 0},
		{`8 <... close resumed>) = -1 (errno 524) <0.000664342>`, Resumed, 8, "close", "", -1, "errno 524", 664342, NoTime, 0},
		{`exit_group(0)                           = ?`, Call, 0, "exit_group", "0", 0, "", -1, NoTime, 0},
		{`--- SIGCHLD {si_signo=SIGCHLD} ---`, Signal, 0, "SIGCHLD", "", 0, "", -1, NoTime, 0},
		{`+++ exited with 0 +++`, Exit, 0, "", "", 0, "", -1, NoTime, 0},
		{`12 +++ superseded by execve in pid 14 +++`, Superseded, 12, "", "", 14, "", -1, NoTime, 0},
		{` > /lib/libc.so.6(__read+0x10) [0x1234]`, Frame, 0, "", "", 0, "", -1, NoTime, 0},
		{`strace: Process 99 attached`, Attached, 99, "", "", 0, "", -1, NoTime, 0},
		{`% time     seconds  usecs/call     calls    errors syscall`, Table, 0, "", "% time     seconds  usecs/call     calls    errors syscall", 0, "", -1, NoTime, 0},
		{`------ ----------- ----------- --------- --------- ----------------`, Table, 0, "", "------ ----------- ----------- --------- --------- ----------------", 0, "", -1, NoTime, 0},
		{` 61.45    0.000110          10        11         9 accept4`, Table, 0, "", " 61.45    0.000110          10        11         9 accept4", 0, "", -1, NoTime, 0},
		{`strace: Process 99 detached`, Message, 0, "", "", 0, "", -1, NoTime, 0},
		{`strace: [ Process PID=12 runs in 32 bit mode. ]`, Message, 0, "", "", 0, "", -1, NoTime, 0},
		{`read(3, "ab`, Noise, 0, "", "", 0, "", -1, NoTime, 0},
		{``, Noise, 0, "", "", 0, "", -1, NoTime, 0},
	} {
		var l Line
		l.Parse([]byte(c.in))
		if l.Kind != c.kind || l.PID != c.pid || string(l.Name) != c.name || string(l.Args) != c.args || l.Ret != c.ret ||
			string(l.Errno) != c.errno || l.Took != c.took || l.Style != c.style || l.Stamp != c.stamp {
			t.Errorf("%s\n  is read as %+v, name %s, args %s, errno %s", c.in, l, l.Name, l.Args, l.Errno)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`[pid  1] 12:00:01.000002 read(3, "", 10) = 0 <0.000012345>`))
	f.Fuzz(func(_ *testing.T, b []byte) { new(Line).Parse(b) })
}

func BenchmarkParse(b *testing.B) {
	line := []byte(`12345 1700000000.123456 sendto(12, "\1\0\0\0\240\21abcdefghijklmnopqrstuv"..., 4096, MSG_NOSIGNAL, NULL, 0) = 4096 <0.000023>`)
	b.SetBytes(int64(len(line) + 1))
	var l Line
	for b.Loop() {
		if l.Parse(line); l.Kind != Call {
			b.Fatal("not read")
		}
	}
}

func TestEightDigitsAreReadAsOneByOne(t *testing.T) {
	for n := uint64(1); n < 1e8; n = n*3 + 7 {
		text := []byte(fmt.Sprintf("%08d", n))
		if got, ok := eightDigits(binary.LittleEndian.Uint64(text)); !ok || got != n {
			t.Errorf("%s is read as %d, %v", text, got, ok)
		}
		for _, bad := range []byte{'/', ':', ' ', '.', 0xb0, 0} {
			text[n%8] = bad
			if got, ok := eightDigits(binary.LittleEndian.Uint64(text)); ok {
				t.Errorf("%q is read as %d", text, got)
			}
		}
	}
}
