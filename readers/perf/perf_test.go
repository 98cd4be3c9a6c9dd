package perf

import (
	"fmt"
	"testing"
)

func TestHeaders(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"sleep 23827 [000] 51058.439989:   10101010 cpu-clock: ", "sleep|0|23827|0|51058439989000|10101010|cpu-clock|"},
		{"a b: c 12/13 [001] 1.000000001:          1 cycles:ppp:  ffffffff8106d1e4 native_write_msr+0x4 ([kernel.kallsyms])", "a b: c|12|13|1|1000000001|1|cycles|ffffffff8106d1e4 native_write_msr+0x4 ([kernel.kallsyms])"},
		{"java 9 1.5: cycles:u: ", "java|0|9|-1|1500000000|1|cycles|"},
		{"swapper     0 [000] 12.000001: sched:sched_switch: prev_comm=swapper/0 prev_pid=0", "swapper|0|0|0|12000001000|1|sched:sched_switch|prev_comm=swapper/0 prev_pid=0"},
		{"kworker/0:1-events 7 [000] 12.000001: 100 cpu-clock:pppH: ", "kworker/0:1-events|0|7|0|12000001000|100|cpu-clock|"},
		{"# captured on: today", "false"},
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
		{"\t7f0011223344 Lcom/x/Y;::run+0x10 (/tmp/perf-12.map)", "Lcom/x/Y;::run|/tmp/perf-12.map|false"},
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
