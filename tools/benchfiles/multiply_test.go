package main

import "testing"

// What is multiplied stays what the program would have written, later and by others.
func TestLinesAreShifted(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"812 1700000000.999990 read(3<TCP:[127.0.0.1:1->127.0.0.1:2]>, \"12 3.5\", 9) = 6 <0.000012>\n", "2812 1700000003.000010 read(3<TCP:[127.0.0.1:1->127.0.0.1:2]>, \"12 3.5\", 9) = 6 <0.000012>\n"},
		{"812   1700000000.000001 clone3({flags=CLONE_VM}, 88) = 815 <0.000012>\n", "2812 1700000002.000021 clone3({flags=CLONE_VM}, 88) = 2815 <0.000012>\n"},
		{"812 1700000000.000001 clone(child_stack=NULL) = -1 EAGAIN (Resource temporarily unavailable) <0.000012>\n", "2812 1700000002.000021 clone(child_stack=NULL) = -1 EAGAIN (Resource temporarily unavailable) <0.000012>\n"},
		{"strace: Process 815 attached\n", "strace: Process 815 attached\n"},
	} {
		if got := string(shiftTrace(nil, []byte(c.line), 2, 1_000_010)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for line, want := range map[string]string{
		"python3  812 [001]    12.999999:     250000 cpu-clock:ppp: \n": "python3  812 [001]    14.000000:     250000 cpu-clock:ppp: \n",
		"\t    7f12.345678: main+0x10 (/usr/bin/python3.11)\n":          "\t    7f12.345678: main+0x10 (/usr/bin/python3.11)\n",
		"a [b] c 12 [000] 1.000000: 1 cpu-clock: \n":                    "a [b] c 12 [000] 1.000000: 1 cpu-clock: \n",
		"\n": "\n",
	} {
		if got := string(shiftSample(nil, []byte(line), 1_000_001)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got, want := string(shiftGC(nil, []byte("[0.123s][info][gc] GC(4) Pause Young 12M->3M(96M) 1.234ms\n"), 2000, 10)), "[2.123s][info][gc] GC(14) Pause Young 12M->3M(96M) 1.234ms\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
