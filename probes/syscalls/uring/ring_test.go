package uring

import (
	"maps"
	"strings"
	"testing"
)

// shown is what Linux 6.18 showed of a ring with a receive that waits; the fields that
// it has and 5.10 has not are above "SqThread".
const shown = `pos:	0
flags:	02000002
SqHead:	2193
CqTail:	2172
CachedCqTail:	2172
SQEs:	1
  0: opcode:NOP, fd:0, flags:0, off:0, addr:0x0, rw_flags:0x0, buf_index:0 user_data:0
CQEs:	0
SqThread:	-1
UserFiles:	0
UserBufs:	0
PollList:
  op=27, task_works=0
  op=13, task_works=0
  op=27, task_works=0
CqOverflowList:
  user_data=5, res=1, flags=0
NAPI:	disabled
`

func TestParseRing(t *testing.T) {
	want := map[uint32]int{27: 2, 13: 1}
	r := ParseRing([]byte(shown))
	if !r.Counted || r.Completed != 2172 || !maps.Equal(r.Waits, want) {
		t.Errorf("%+v", r)
	}
	old := ParseRing([]byte(shown[strings.Index(shown, "SqThread"):]))
	if old.Counted || !maps.Equal(old.Waits, want) {
		t.Errorf("of 5.10: %+v", old)
	}
	for _, bad := range []string{"", "PollList:\n  op=x\n  op=\n op", "CachedCqTail:\tx\n"} {
		if r := ParseRing([]byte(bad)); r.Counted || len(r.Waits) != 0 {
			t.Errorf("%q: %+v", bad, r)
		}
	}
}

func TestNames(t *testing.T) {
	for code, want := range map[uint32]string{0: "nop", 27: "recv", 49: "read_multishot", 62: "pipe", 90: "90", 255: "unknown"} {
		if got := Name(code); got != "io_uring:"+want {
			t.Errorf("opcode %d is %q, want %s", code, got, want)
		}
	}
	if !Moves("io_uring:read") || Moves("io_uring:openat") || Moves("io_uring:unknown") {
		t.Error("of which operations the result is bytes")
	}
	if !WaitsForWork("io_uring:accept") || WaitsForWork("io_uring:write") {
		t.Error("which operations wait for work")
	}
}

func FuzzParseRing(f *testing.F) {
	f.Add([]byte("CachedCqTail:\t7\nPollList:\n  op=27, task_works=0\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		sum := 0
		for code, n := range ParseRing(b).Waits {
			sum += n
			if n < 1 || Name(code) == "" {
				t.Errorf("%d of opcode %d", n, code)
			}
		}
		if sum > mostWaits || sum > len(b) {
			t.Errorf("%d operations out of %d bytes", sum, len(b))
		}
	})
}
