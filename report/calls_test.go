package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"snag/recording"
)

func callsRecording() *recording.Recording {
	n := func(v uint64) *uint64 { return &v }
	const s = recording.Time(1e9)
	r := &recording.Recording{
		Manifest: recording.Manifest{Host: "web1", Kernel: "6.1", Start: 100 * s, End: 110 * s},
		Calls: []recording.Call{
			{T: 100 * s, PID: 812, TID: 812, Comm: "nginx", Call: "write", FD: 7, N: 100, Errors: map[string]uint64{"EAGAIN": 10}, Done: n(9000), Asked: n(10000), Sum: 2, Max: 1.5, MaxAt: 101 * s, Hist: []uint64{90, 10}},
			{T: 101 * s, PID: 812, TID: 813, Comm: "nginx", Call: "write", FD: 7, N: 50, Done: n(1000), Sum: 1, Max: 0.5, MaxAt: 102 * s, Hist: []uint64{1, 2, 47}},
			{T: 101 * s, PID: 812, TID: 813, Comm: "nginx", Call: "read", FD: 7, N: 20, Done: n(2048), Sum: 0.001, Max: 0.0001},
			{T: 101 * s, PID: 812, TID: 813, Comm: "nginx", Call: "epoll_wait", FD: 5, N: 30, Sum: 6, Max: 1},
			{T: 101 * s, PID: 900, TID: 900, Comm: "php", Call: "getpid", FD: -1, N: 5},
		},
		FDs: []recording.FD{
			{T: 100 * s, PID: 812, FD: 7, Kind: "socket", Inode: 1, Proto: "tcp", Local: "10.0.0.1:80", Remote: "10.0.0.6:1"},
			{T: 105 * s, PID: 812, FD: 7, Kind: "socket", Inode: 2, Proto: "tcp", Local: "10.0.0.1:80", Remote: "10.0.0.7:4312", State: "ESTABLISHED", PeerPID: 99, PeerComm: "curl", Carries: "GET /x HTTP/1.1"},
			{T: 100 * s, PID: 812, FD: 5, Kind: "epoll"},
		},
		Events: []recording.Event{
			{T: 101 * s, Kind: recording.EventBlocked, Subject: recording.Subject{Kind: recording.KindThread, PID: 812, TID: 813, Comm: "nginx"}, Value: 9, Attrs: map[string]string{"call": "write", "fd": "7", "begun": "seen", "name": "tcp 10.0.0.1:80"}},
			{T: 100 * s, Kind: recording.EventBlocked, Subject: recording.Subject{Kind: recording.KindThread, PID: 812, TID: 814, Comm: "nginx"}, Value: 10, Attrs: map[string]string{"call": "epoll_wait", "begun": "before", "idle": "yes"}},
			{T: 100 * s, End: 102 * s, Kind: recording.EventBlocked, Attrs: map[string]string{"call": "connect"}},
		},
		Coverage: []recording.Coverage{{Probe: "syscalls.calls", State: "ok", Cost: 0.05}, {Probe: "host.cpu", State: "ok", Cost: 9}},
		Series:   []recording.Series{{Name: "snag_probe_bpf_seconds_total", Labels: recording.Labels{"probe": "syscalls"}, Points: []recording.Point{{V: 0.01}, {V: 0.03}}}},
	}
	return r
}

func TestCallsAreSummedAsStraceSortsThem(t *testing.T) {
	c := SumCalls(callsRecording())
	var b bytes.Buffer
	if err := WriteCalls(&b, c, TableOptions{Width: 100}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		"nginx[812] and 1 more · 10.0 s from 00:01:40 UTC · 205 calls, 21/s",
		"% time     seconds  usecs/call     calls    errors syscall\n",
		" 66.66    6.000000      200000        30           epoll_wait\n",
		" 33.33    3.000000       20000       150        10 write\n",
		"100.00    9.001000       43907       205        10 total\n",
		"errors: write EAGAIN 10",
		"    812     7       2       15    205 B   1000 B     3 s     10  write 1.5 s 00:01:41.0\n",
		"tcp 10.0.0.1:80 – 10.0.0.7:4312 ESTABLISHED, to curl[99] · GET /x HTTP/1.1 (1 other before)\n",
		"       9 s  nginx[812/813] write(7) · tcp 10.0.0.1:80\n",
		"1 idle thread waits for work: epoll_wait 1",
		"the trace cost 0.030 s of CPU in the kernel, other processes' calls included, and 0.050 s of CPU\n  in snag: 0.8 % of a CPU",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	// What threads wait in is not what they work in: the descriptor of epoll comes last.
	if strings.Index(text, "    812     7") > strings.Index(text, "    812     5") {
		t.Errorf("epoll before the socket:\n%s", text)
	}
}

func TestCallsFitTheirWidthAndSayWhatIsLeftOut(t *testing.T) {
	c := SumCalls(callsRecording())
	for _, width := range []int{80, 100, 120} {
		var b bytes.Buffer
		if err := WriteCalls(&b, c, TableOptions{Width: width, Most: 1}); err != nil {
			t.Fatal(err)
		}
		for _, l := range strings.Split(b.String(), "\n") {
			if n := len([]rune(l)); n > width {
				t.Errorf("%d columns of %d: %s", n, width, l)
			}
		}
		for _, want := range []string{"(2 more: --top)", "and 1 more: --top 2"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		}
	}
}

func TestRatesAreOfTheTimeThatWasCounted(t *testing.T) {
	r := callsRecording()
	const s = recording.Time(1e9)
	r.Coverage[0].Since = 102 * s
	r.Series = append(r.Series, recording.Series{Name: "snag_probe_late_seconds", Labels: recording.Labels{"probe": "syscalls"}, Points: []recording.Point{{T: 103 * s}, {T: 107 * s}}})
	if c := SumCalls(r); c.Start != 102*s || c.Seconds != 5 {
		t.Errorf("%v and %g s, want 5 s from the 102nd on", c.Start, c.Seconds)
	}
}

func TestCallsAsJSON(t *testing.T) {
	var b bytes.Buffer
	if err := WriteCallsJSON(&b, SumCalls(callsRecording())); err != nil {
		t.Fatal(err)
	}
	var c Calls
	if err := json.Unmarshal(b.Bytes(), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Calls) != 4 || c.Calls[1].Errors["EAGAIN"] != 10 || c.Calls[1].Hist[2] != 47 || c.FDs[0].Out != 10000 || c.FDs[0].What.Carries == "" || *c.Cost.Kernel != 0.03 || len(c.Coverage) != 1 {
		t.Errorf("%+v", c)
	}
	empty := SumCalls(&recording.Recording{})
	b.Reset()
	if err := WriteCallsJSON(&b, empty); err != nil || strings.Contains(b.String(), "null") {
		t.Errorf("%v: %s", err, b.String())
	}
	b.Reset()
	if err := WriteCalls(&b, empty, TableOptions{}); err != nil || !strings.Contains(b.String(), "no process") {
		t.Errorf("%v: %s", err, b.String())
	}
}

func TestBlockedShowsWhatIsStuckAndCountsTheIdle(t *testing.T) {
	v := &Blocked{Threads: 12, Processes: 2, Running: 1, Seconds: 1, Warnings: []string{"3 threads were not looked at"}, Blocked: []BlockedThread{
		{PID: 1, TID: 2, Comm: "a", Call: "epoll_wait", Seconds: 500, Idle: true},
		{PID: 1, TID: 3, Comm: "a", Call: "write", FD: "7", Seconds: 2, On: "tcp x", State: "D", Wchan: "sk_wait"},
		{PID: 1, TID: 4, Comm: "a", Call: "read", FD: "8", Seconds: 1, AtLeast: true},
		{PID: 1, TID: 5, Comm: "sh", Call: "read", FD: "0", Seconds: 100, On: "tty /dev/pts/1"},
	}}
	SortBlocked(v.Blocked)
	var b bytes.Buffer
	if err := WriteBlocked(&b, v, TableOptions{}, false); err != nil {
		t.Fatal(err)
	}
	want := `12 threads of 2 processes, twice in 1 s: 2 stuck, 1 at a quiet pipe or terminal, 1 idle, 8 ran
       2 s  a[1/3] write(7) in sk_wait (uninterruptible) · tcp x
     ≥ 1 s  a[1/4] read(8)
reading from a pipe, a unix socket or a terminal where nothing came; well, where nothing is due
     100 s  sh[1/5] read(0) · tty /dev/pts/1
1 idle thread waits for work: epoll_wait 1
! 3 threads were not looked at
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := WriteBlocked(&b, v, TableOptions{Most: 2}, true); err != nil || !strings.Contains(b.String(), "and 2 more: --top") || strings.Contains(b.String(), "wait for work") {
		t.Errorf("%v %s", err, b.String())
	}
}
