package perf

import (
	"fmt"
	"testing"
)

func TestHeaders(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"sleep 23827 [000] 51058.439989:   10101010 cpu-clock: ", "sleep|-1|23827|0|51058439989000|10101010|cpu-clock|"},
		{"a b: c 12/13 [001] 1.000000001:          1 cycles:ppp:  ffffffff8106d1e4 native_write_msr+0x4 ([kernel.kallsyms])", "a b: c|12|13|1|1000000001|1|cycles|ffffffff8106d1e4 native_write_msr+0x4 ([kernel.kallsyms])"},
		{"java 9 1.5: cycles:u: ", "java|-1|9|-1|1500000000|1|cycles|"},
		{"swapper     0 [000] 12.000001: sched:sched_switch: prev_comm=swapper/0 prev_pid=0", "swapper|-1|0|0|12000001000|1|sched:sched_switch|prev_comm=swapper/0 prev_pid=0"},
		{"kworker/0:1-events 7 [000] 12.000001: 100 cpu-clock:pppH: ", "kworker/0:1-events|-1|7|0|12000001000|100|cpu-clock|"},
		{"sleep 23827 10101010 cpu-clock: ", "sleep|-1|23827|-1|-1|10101010|cpu-clock|"},
		{"my worker 12/13 cycles:u: ", "my worker|12|13|-1|-1|1|cycles|"},
		{"sleep 12/13 1.5: ", "sleep|12|13|-1|1500000000|1||"},
		{"sleep 12/13 1.5:  ffffffff8106d1e4 native_write_msr+0x4 ([kernel.kallsyms])", "sleep|12|13|-1|1500000000|1||ffffffff8106d1e4 native_write_msr+0x4 ([kernel.kallsyms])"},
		{"           sleep 23827 [000] 51058.439989:   10101010 cpu-clock:  ffffffff8106d1e4 x+0x4 ([kernel.kallsyms])", "sleep|-1|23827|0|51058439989000|10101010|cpu-clock|ffffffff8106d1e4 x+0x4 ([kernel.kallsyms])"},
		{"gone -1/-1 [000] 1.5: cycles: ", "gone|0|0|0|1500000000|1|cycles|"},
		{"perf 1234 [001] 58.4: PERF_RECORD_LOST lost 34", "perf|-1|1234|1|58400000000|1||"},
		{"# captured on: today", "false"},
		{"1234 1700000000.123456 read(3, \"a: b\", 5) = 5 <0.1>", "false"},
		{"Nov 21 10:00:00 host sshd[123]: session opened", "false"},
		{"\tffff main+0x1 (/bin/x)", "false"},
		{"", "false"},
	} {
		h, ok := parseHeader([]byte(c.in))
		got := fmt.Sprint(ok)
		if ok {
			got = fmt.Sprintf("%s|%d|%d|%d|%d|%d|%s|%s", h.comm, h.pid, h.tid, h.cpu, h.at, h.period, h.event, h.rest)
		}
		if got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestFrames(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"\t           33411 _nl_intern_locale_data+0x391 (/usr/lib/x86_64-linux-gnu/libc.so.6)", "_nl_intern_locale_data|/usr/lib/x86_64-linux-gnu/libc.so.6|false"},
		{"\tffffffff8106d1e4 native_write_msr+0x4 ([kernel.kallsyms])", "native_write_msr||true"},
		{"\tffffffffc0012345 nft_do_chain+0x4 ([nf_tables])", "nft_do_chain||true"},
		{"\t  400123 std::vector<int, std::allocator<int> >::push_back(int const&)+0x10 (/opt/a b/x)", "std::vector<int, std::allocator<int> >::push_back(int const&)|/opt/a b/x|false"},
		{"\t  400123 operator()(int) (inlined)", "operator()(int)||false"},
		{"\t  400123 [unknown] (/opt/x (deleted))", "[x]|/opt/x|false"},
		{"\t  400123 [unknown] ([unknown])", "[unknown]||false"},
		{"\t7f0011223344 Lcom/x/Y;::run+0x10 (/tmp/perf-12.map)", "Lcom/x/Y;::run|[jit]|false"},
	} {
		f, ok := parseFrame([]byte(c.in))
		if got := fmt.Sprintf("%s|%s|%v", f.function, f.object, f.kernel); !ok || got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func FuzzHeader(f *testing.F) {
	f.Add([]byte("sleep 23827 [000] 51058.439989:   10101010 cpu-clock: "))
	f.Fuzz(func(_ *testing.T, b []byte) { parseHeader(b); parseFrame(b) })
}
