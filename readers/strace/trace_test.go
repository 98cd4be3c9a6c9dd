package strace

import (
	"math"
	"strings"
	"testing"

	"snag/readers/reader"
	"snag/recording"
)

type sink struct{ recording.Recording }

func (s *sink) Sample(recording.Time, string, recording.Labels, float64) {}
func (s *sink) Append(row recording.Row)                                 { s.Add(row) }

// trace reads lines as one trace that begins at 1,700,000,000.
func trace(t *testing.T, o Options, text string) (*recording.Recording, Counts) {
	t.Helper()
	if o.Begin == 0 {
		o.Begin = 1_700_000_000e9
	}
	out := &sink{}
	tr := New(out, o)
	var l Line
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		l.Parse([]byte(line))
		tr.Line(&l)
	}
	return &out.Recording, tr.End()
}

type total struct {
	n    uint64
	sum  float64
	done uint64
	errs uint64
}

// totals sums rows by call, as strace -c does.
func totals(r *recording.Recording) map[string]total {
	m := map[string]total{}
	for _, row := range r.Calls {
		t := m[row.Call]
		t.n += row.N
		t.sum += row.Sum
		if row.Done != nil {
			t.done += *row.Done
		}
		for _, n := range row.Errors {
			t.errs += n
		}
		m[row.Call] = t
	}
	return m
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

func TestACallThatSpansSecondsIsSplitOverThem(t *testing.T) {
	r, c := trace(t, Options{}, `
10 1700000000.500000 read(3, "x", 1) = 1 <3.250000>
10 1700000003.800000 close(3) = 0 <0.000010>
11 1700000003.900000 recvfrom(4,  <unfinished ...>
10 1700000006.000000 getpid() = 10 <0.000001>
11 1700000006.100000 <... recvfrom resumed>"ab", 2, 0, NULL, NULL) = 2 <2.200000>`)
	got := map[string][]float64{}
	for _, row := range r.Calls {
		if row.Call == "read" || row.Call == "recvfrom" {
			got[row.Call] = append(got[row.Call], float64(row.T-1_700_000_000e9)/1e9, row.Sum, float64(row.N))
		}
	}
	want := map[string][]float64{
		"read":     {0, 0.5, 1, 1, 1, 0, 2, 1, 0, 3, 0.75, 0},
		"recvfrom": {3, 0.1, 0, 4, 1, 0, 5, 1, 0, 6, 0.1, 1},
	}
	for call, w := range want {
		if len(got[call]) != len(w) {
			t.Fatalf("%s: %v, want second, time inside, calls of each second: %v", call, got[call], w)
		}
		for i := range w {
			if !near(got[call][i], w[i]) {
				t.Errorf("%s: %v, want %v", call, got[call], w)
				break
			}
		}
	}
	if c.Unfinished != 0 || c.Orphans != 0 || c.Calls != 4 {
		t.Errorf("counts %+v", c)
	}
	if n := len(r.Events); n != 2 { // read and recvfrom sat over a second
		t.Errorf("%d events, want 2: %v", n, r.Events)
	}
}

func TestErrorsAreNoBytes(t *testing.T) {
	r, _ := trace(t, Options{}, `
1700000000.1 read(3, 0x7f, 100) = -1 EAGAIN (Resource temporarily unavailable) <0.000001>
1700000000.2 read(3, "abc", 100) = 3 <0.000001>
1700000000.3 write(4, "abc", 3) = -1 EPIPE (Broken pipe) <0.000001>
1700000000.3 --- SIGPIPE {si_signo=SIGPIPE, si_code=SI_USER, si_pid=1, si_uid=0} ---
1700000000.4 read(3, "", 100) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)`)
	got := totals(r)
	if got["read"] != (total{n: 3, sum: got["read"].sum, done: 3, errs: 2}) || got["write"].done != 0 {
		t.Errorf("%+v", got)
	}
	if len(r.Events) != 1 || r.Events[0].Attrs["signal"] != "SIGPIPE" {
		t.Errorf("events %v", r.Events)
	}
}

func TestDescriptorsHaveLives(t *testing.T) {
	r, _ := trace(t, Options{}, `
7 1700000000.1 openat(AT_FDCWD, "/etc/a) = 3 <0.5>", O_RDONLY|O_CLOEXEC) = 3 <0.000001>
7 1700000000.2 read(3, "x", 1) = 1 <0.000001>
7 1700000001.3 close(3) = 0 <0.000001>
7 1700000001.4 socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 3 <0.000001>
7 1700000001.5 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.9")}, 16) = -1 EINPROGRESS (Operation now in progress) <0.000001>
7 1700000001.6 sendto(3, "GET", 3, 0, NULL, 0) = 3 <0.000001>
7 1700000001.7 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD) = 8 <0.000001>
8 1700000001.8 read(3, "y", 1) = 1 <0.000001>
7 1700000001.8 accept4(5, {sa_family=AF_INET6, sin6_port=htons(4242), inet_pton(AF_INET6, "::1", &sin6_addr)}, [28], SOCK_NONBLOCK) = 9 <0.000001>
7 1700000001.9 read(9<TCPv6:[[::1]:80->[::1]:4242]>, "z", 1) = 1 <0.000001>
7 1700000002.0 read(12</var/log/x>, "z", 1) = 1 <0.000001>`)
	var got []string
	for _, f := range r.FDs {
		got = append(got, itoa(f.PID)+"/"+itoa(f.FD)+" "+f.Text())
	}
	joined := strings.Join(got, "\n")
	for _, w := range []string{"7/3 file /etc/a) = 3 <0.5>", "7/3 tcp – 10.0.0.9:80", "7/9 tcp [::1]:80 – [::1]:4242", "7/12 file /var/log/x"} {
		if !strings.Contains(joined, w) {
			t.Errorf("no %q in\n%s", w, joined)
		}
	}
}

func TestLinesWithoutANumberAreOfTheOnlyThread(t *testing.T) {
	r, _ := trace(t, Options{}, `
execve("/usr/sbin/nginx", ["nginx"], 0x7ffd /* 10 vars */) = 0
read(3, "a", 1) = 1
clone(child_stack=NULL, flags=CLONE_VM|CLONE_THREAD) = 21
strace: Process 21 attached
[pid    20] read(3, "b", 1) = 1
[pid    21] read(3, "c", 1 <unfinished ...>
[pid    20] write(4, "d", 1) = 1
[pid    21] <... read resumed>) = 1
[pid    21] +++ exited with 0 +++
read(3, "e", 1) = 1`)
	by := map[[2]int]uint64{}
	for _, row := range r.Calls {
		if row.Call == "read" {
			by[[2]int{row.PID, row.TID}] += row.N
		}
		if row.Comm != "nginx" {
			t.Errorf("comm %q of %+v", row.Comm, row)
		}
	}
	if by[[2]int{20, 20}] != 3 || by[[2]int{20, 21}] != 1 {
		t.Errorf("reads by process and thread: %v", by)
	}
}

func TestExecveOfAThreadTakesTheFirstOnesNumber(t *testing.T) {
	r, c := trace(t, Options{}, `
30 1700000000.1 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_THREAD) = 31 <0.000001>
30 1700000000.1 futex(0x10, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>
31 1700000000.2 execve("/bin/true", ["true"], 0x1 /* 1 var */ <unfinished ...>
30 1700000000.3 <... futex resumed>) = ?
30 1700000000.3 +++ superseded by execve in pid 31 +++
30 1700000000.4 <... execve resumed>) = 0 <0.2>
30 1700000000.5 getpid() = 30 <0.000001>`)
	got := totals(r)
	if got["execve"].n != 1 || got["getpid"].n != 1 || c.Orphans != 0 || c.Unfinished != 0 {
		t.Errorf("%+v, %+v", got, c)
	}
	for _, row := range r.Calls {
		if row.Call == "getpid" && row.Comm != "true" {
			t.Errorf("comm after execve: %+v", row)
		}
	}
}

func TestMidnightGoesOn(t *testing.T) {
	midnight := int64(1_699_920_000e9)
	r, c := trace(t, Options{Begin: midnight}, `
5 23:59:59.900000 read(3, "x", 1) = 1 <0.000001>
5 00:00:00.100000 read(3, "x", 1) = 1 <0.000001>`)
	if d := c.Last - recording.Time(midnight); d != recording.Time(day)+1e8 {
		t.Errorf("the last line is %d ns after midnight", d)
	}
	if len(r.Calls) != 2 || r.Calls[1].T-r.Calls[0].T != 1e9 {
		t.Errorf("%+v", r.Calls)
	}
}

func TestLocksHaveWakers(t *testing.T) {
	r, _ := trace(t, Options{}, `
40 1700000000.0 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_THREAD) = 41 <0.000001>
41 1700000000.1 futex(0x7f10, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
40 1700000000.2 read(3,  <unfinished ...>
40 1700000002.2 <... read resumed>"x", 1) = 1 <2.000000>
40 1700000002.3 futex(0x7f10, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000010>
41 1700000002.4 <... futex resumed>) = 0 <2.300000>`)
	var sum float64
	var owner int
	for _, w := range r.LockWaits {
		if w.Address != 0x7f10 || w.Kind != "mutex" || w.Waiters != 1 {
			t.Errorf("%+v", w)
		}
		sum += w.Sum
		if w.Owner != 0 {
			owner = w.Owner
		}
	}
	if !near(sum, 2.3) || owner != 40 || len(r.LockWaits) != 3 {
		t.Errorf("%d rows, %v s in all, owner %d: %+v", len(r.LockWaits), sum, owner, r.LockWaits)
	}
}

func chunkOf(text string) reader.Chunk { return reader.Chunk{Data: []byte(text), Last: true} }

// Whatever the lines are, nothing panics, and no second has more time than its threads.
func FuzzTrace(f *testing.F) {
	f.Add(string(relayTrace(2 << 10)))
	f.Add(relayLines)
	f.Add("7 1.0 accept4(5, NULL, NULL, 0) = 8<TCP:[1.2.3.4:5->6.7.8.9:10]> <0.1>\n7 1.2 epoll_ctl(3, EPOLL_CTL_ADD, 8, {events=EPOLLIN, data={u32=8, u64=8}}) = 0\n7 1.3 poll([{fd=8, events=POLLIN}], 1, 1) = 1 ([{fd=8, revents=POLLIN}]) <0.1>\n7 1.4 prlimit64(0, RLIMIT_NOFILE, NULL, {rlim_cur=4*1024, rlim_max=4*1024}) = 0\n7 1.5 select(9, [8], NULL, NULL, NULL) = 1 (in [8])\n7 1.6 pipe2([3, 4], 0) = 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 8<<10 {
			return
		}
		out := &sink{}
		tr := New(out, Options{Begin: 1_700_000_000e9, Find: "x"})
		for _, l := range parseChunk(chunkOf(text), nil, spellings("x")) {
			tr.Line(&l)
		}
		c := tr.End()
		var n uint64
		for _, row := range out.Calls {
			n += row.N
			if row.Sum < 0 || row.Sum > 1.000001*float64(max(1, len(tr.threads)+len(out.Threads)+8)) && row.TID != 0 {
				t.Errorf("%+v", row)
			}
		}
		if n != c.Calls && len(tr.table) == 0 {
			t.Errorf("%d calls in rows, %d counted", n, c.Calls)
		}
	})
}
