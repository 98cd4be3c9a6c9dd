package strace

import (
	"strings"
	"testing"

	"snag/recording"
)

func TestStringsAreReadAsStraceEscapesThem(t *testing.T) {
	for in, want := range map[string]string{
		`abc", 10`:                    "abc",
		`\x63\x72e`:                   "cre",
		`\1\0\0018\tx\n\"\\`:          "\x01\x00\x018\tx\n\"\\",
		`\377\176`:                    "\xff~",
		`\x6`:                         "\x06",
		`\`:                           `\`,
		strings.Repeat("a", 400):      strings.Repeat("a", 256),
		`\2\0\fcreateStream\0@\20"..`: "\x02\x00\x0ccreateStream\x00@\x10",
	} {
		if got := string(unescape(make([]byte, 0, peekedBytes), []byte(in))); got != want {
			t.Errorf("%s is read as %q, want %q", in, got, want)
		}
	}
}

// What a spelling says is what unescape reads.
func FuzzSpellings(f *testing.F) {
	f.Add("createStream", "")
	f.Add("\x00\x01é\"\\7", "1")
	f.Fuzz(func(t *testing.T, text, after string) {
		if len(text) > 100 {
			return
		}
		for _, form := range spellings(text) {
			// What comes behind must not be taken for a part of its last escape; strace sees to
			// that for the whole string.
			if got := unescape(make([]byte, 0, peekedBytes), append(form, '"')); string(got) != text {
				t.Errorf("%q is spelt %s, which is read as %q", text, form, got)
			}
		}
	})
}

const relayLines = `
9 1700000000.000001 accept4(5, {sa_family=AF_INET, sin_port=htons(40112), sin_addr=inet_addr("10.0.0.7")}, [16], SOCK_CLOEXEC) = 8<TCP:[10.0.0.1:1935->10.0.0.7:40112]> <0.000010>
9 1700000000.100000 recvfrom(8<TCP:[10.0.0.1:1935->10.0.0.7:40112]>, "\3\0\0\0\0\0\210\24\0\0\0\0\2\0\7connect\0?\360\0\0\0\0\0\0\3\0\3app\2\0\4live\0\0\t", 4096, 0, NULL, NULL) = 90 <0.000010>
9 1700000000.200000 recvfrom(8<TCP:[10.0.0.1:1935->10.0.0.7:40112]>, "\x03\x00\x00\x00\x00\x00\x20\x14\x00\x00\x00\x00\x02\x00\x07\x70\x75\x62\x6c\x69\x73\x68\x00\x40\x14\x00\x00\x00\x00\x00\x00\x05\x02\x00\x04\x63\x61\x6d\x31", 4096, 0, NULL, NULL) = 60 <0.000010>
9 1700000000.250000 accept4(5, {sa_family=AF_INET, sin_port=htons(40113), sin_addr=inet_addr("10.0.0.8")}, [16], SOCK_CLOEXEC) = 9<TCP:[10.0.0.1:80->10.0.0.8:40113]> <0.000010>
9 1700000000.300000 read(9<TCP:[10.0.0.1:80->10.0.0.8:40113]>, "GET /live/cam1.flv?token=secret HTTP/1.1\r\nHost: x\r\n"..., 4096) = 200 <0.000010>
9 1700000000.400000 read(8<TCP:[10.0.0.1:1935->10.0.0.7:40112]>, "x", 4096) = 1 <0.000010>
9 1700000000.500000 write(9<TCP:[10.0.0.1:80->10.0.0.8:40113]>, "x", 1) = 1 <0.000010>`

func TestDescriptorsAreNamedByWhatTheyCarry(t *testing.T) {
	r, _ := trace(t, Options{}, relayLines)
	got := map[int]string{}
	for _, fd := range r.FDs {
		if fd.Carries != "" {
			got[fd.FD] = fd.Carries
		}
	}
	if got[8] != "RTMP publish live/cam1" || got[9] != "GET /live/cam1.flv HTTP/1.1" {
		t.Errorf("%v", got)
	}
}

func TestATextIsFoundWhereItIs(t *testing.T) {
	for text, want := range map[string]string{"publish": "8", "cam1.flv?tok": "9", "connect": "8", "nowhere": ""} {
		out := &sink{}
		tr := New(out, Options{Begin: 1, Find: text})
		for _, l := range parseChunk(chunkOf(relayLines), nil, spellings(text)) {
			tr.Line(&l)
		}
		tr.End()
		var got []string
		for _, e := range out.Events {
			if e.Kind == recording.EventFound {
				got = append(got, e.Attrs["fd"])
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is found on %v, want %q", text, got, want)
		}
	}
}

// The table of strace -c alone is what there is; behind the calls themselves it adds nothing.
func TestATableAloneIsRead(t *testing.T) {
	const table = `
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 61.45    0.000110          10        11         9 accept4
 38.55    0.000069          69         1           read
------ ----------- ----------- --------- --------- ----------------
100.00    0.000179                    12         9 total`
	if !Sniff([]byte(strings.TrimSpace(table) + "\n")) {
		t.Error("it is not taken for strace's")
	}
	r, c := trace(t, Options{}, table)
	got := totals(r)
	if len(got) != 2 || got["accept4"].n != 11 || got["accept4"].errs != 9 || !near(got["read"].sum, 69e-6) || c.Noise != 0 {
		t.Errorf("%+v, %+v", got, c)
	}
	r, c = trace(t, Options{}, "1700000000.1 close(3) = 0 <0.000001>"+table)
	if got := totals(r); len(got) != 1 || c.Noise != 0 {
		t.Errorf("behind calls: %+v, %+v", got, c)
	}
}

func TestThreadsHaveTheNamesThatTheTraceShows(t *testing.T) {
	r, _ := trace(t, Options{}, `
50<server> 1700000000.1 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_THREAD) = 51<server> <0.000001>
51<worker> 1700000000.2 read(3, "x", 1) = 1 <0.000001>
50<server> 1700000000.3 prctl(PR_SET_NAME, "main") = 0 <0.000001>
50<main> 1700000000.4 read(3, "x", 1) = 1 <0.000001>`)
	got := map[int]string{}
	for _, row := range r.Calls {
		if row.Call == "read" {
			got[row.TID] = row.Comm
		}
	}
	if got[50] != "main" || got[51] != "worker" {
		t.Errorf("%v", got)
	}
}

// What -p found running is one process, until its descriptors say that it is several.
func TestThreadsFromBeforeTheTrace(t *testing.T) {
	r, _ := trace(t, Options{}, `
61 1700000000.1 futex(0x10, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
60 1700000000.2 read(3</a>, "x", 1) = 1 <0.000001>
62 1700000000.3 read(3</a>, "x", 1) = 1 <0.000001>
70 1700000000.4 read(3</b>, "x", 1) = 1 <0.000001>
60 1700000000.5 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD) = 80 <0.000001>
80 1700000000.6 read(3</a>, "x", 1) = 1 <0.000001>`)
	got := map[int]int{}
	for _, row := range r.Calls {
		got[row.TID] = row.PID
	}
	for tid, pid := range map[int]int{61: 60, 60: 60, 62: 60, 70: 70, 80: 80} {
		if got[tid] != pid {
			t.Errorf("thread %d is of process %d, want %d", tid, got[tid], pid)
		}
	}
}
