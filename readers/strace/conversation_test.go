package strace

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"snag/internal/conversation"
)

func conversationOf(t testing.TB, text string, pid, fd int) (conversation.Conversation, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Conversation(context.Background(), path, pid, fd)
}

const aClient = `4711 1699999999.900000 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f0000000000) = 4712 <0.000100>
4711 1700000000.000000 socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP) = 5 <0.000010>
4711 1700000000.000100 setsockopt(5, SOL_SOCKET, SO_SNDBUF, [65536], 4) = 0 <0.000002>
4711 1700000000.000200 setsockopt(5, SOL_TCP, TCP_NODELAY, [1], 4) = 0 <0.000002>
4711 1700000000.000300 connect(5, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.9")}, 16) = 0 <0.000200>
4711 1700000000.010000 write(5, "GET"..., 20) = 20 <0.000010>
4711 1700000000.010100 write(5, "body"..., 80) = 80 <0.000010>
4711 1700000000.010200 poll([{fd=5, events=POLLIN}], 1, 3000) = 1 ([{fd=5, revents=POLLIN}]) <0.040000>
4712 1700000000.010300 write(5, "another process"..., 15) = 15 <0.000010>
4711 1700000000.050000 recvfrom(5, "ok"..., 4096, 0, NULL, NULL) = 10 <0.000010>
4711 1700000000.110000 write(5, "GET"..., 25 <unfinished ...>
4712 1700000000.110005 write(5, "another process"..., 15) = 15 <0.000010>
4711 1700000000.110020 <... write resumed>) = 25 <0.000020>
4711 1700000000.130000 recvfrom(5, "ok"..., 4096, 0, NULL, NULL) = -1 EAGAIN (Resource temporarily unavailable) <0.000005>
4711 1700000000.150000 recvfrom(5, "ok"..., 4096, 0, NULL, NULL) = 12 <0.000010>
4711 1700000000.200000 close(5) = 0 <0.000010>
4711 1700000000.300000 socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 5 <0.000010>
4711 1700000000.310000 write(5, "x"..., 1) = 1 <0.000010>
`

func TestConversation(t *testing.T) {
	c, err := conversationOf(t, aClient, 4711, 5)
	if err != nil {
		t.Fatal(err)
	}
	want := []conversation.Message{{Writes: []int{20, 80}, Answer: 10}, {At: 100 * time.Millisecond, Writes: []int{25}, Answer: 12}}
	if got := c.Messages(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if c.NoDelay == nil || !*c.NoDelay || c.SendBuffer != 65536 || c.ReceiveBuffer != 0 || c.Timeout != 3*time.Second || !c.Timed {
		t.Errorf("%+v", c)
	}
	if c.From != "trace.txt, descriptor 5 of process 4711, lines 3 to 16 (the one with most bytes of 2 connections of that number)" {
		t.Error(c.From)
	}
	if got := strings.Join(c.Set, "; "); got != "SO_SNDBUF 65536 bytes (line 3); TCP_NODELAY 1 (line 4); timeout 3s, from poll (line 8)" {
		t.Error(got)
	}
	for _, bad := range []struct {
		pid, fd int
		want    string
	}{{0, 5, "descriptor 5 is of processes [4711 4712]: choose one with --pid"}, {4711, 9, "no call moved bytes over a connection that was descriptor 9 of process 4711"}} {
		if _, err := conversationOf(t, aClient, bad.pid, bad.fd); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%v, want %q", err, bad.want)
		}
	}
}

// A program that is seen to connect and not to set TCP_NODELAY has it off.
func TestNagleOfAClient(t *testing.T) {
	c, err := conversationOf(t, strings.ReplaceAll(aClient, "TCP_NODELAY, [1]", "TCP_KEEPIDLE, [1]"), 4711, 5)
	if err != nil || c.NoDelay == nil || *c.NoDelay || !strings.Contains(strings.Join(c.Set, "; "), "TCP_NODELAY off: no call sets it") {
		t.Errorf("%+v, %v", c, err)
	}
}

// A server reads the requests: what it reads is what a client sends.
func TestConversationOfAServer(t *testing.T) {
	c, err := conversationOf(t, `accept4(3, {sa_family=AF_INET, sin_port=htons(40000), sin_addr=inet_addr("10.0.0.1")}, [128 => 16], SOCK_CLOEXEC) = 7
read(7, "ping"..., 4096) = 100
write(7, "pong"..., 8) = 8
read(7, "ping"..., 4096) = 50
write(7, "pong"..., 8) = 8
`, 0, 7)
	if err != nil {
		t.Fatal(err)
	}
	want := []conversation.Message{{Writes: []int{100}, Answer: 8}, {Writes: []int{50}, Answer: 8}}
	if got := c.Messages(); !reflect.DeepEqual(got, want) || c.Timed {
		t.Errorf("%+v, timed %v", got, c.Timed)
	}
	if got := strings.Join(c.Lacks, "; "); !strings.Contains(got, "the client's writes") || !strings.Contains(got, "times (strace -tt or -r)") || !strings.Contains(got, "TCP_NODELAY") {
		t.Error(got)
	}
}

func TestTimeouts(t *testing.T) {
	for text, want := range map[string]time.Duration{
		// The second has what is left of the first one's time.
		"poll([{fd=5, events=POLLIN}], 1, 5000) = 1 ([{fd=5, revents=POLLIN}])\npoll([{fd=5, events=POLLIN}], 1, 300) = 1 ([{fd=5, revents=POLLIN}])": 5 * time.Second,
		`setsockopt(5, SOL_SOCKET, SO_RCVTIMEO_OLD, "\2\0\0\0\0\0\0\0 \241\7\0\0\0\0\0", 16) = 0`:                                                     2500 * time.Millisecond,
		`setsockopt(5, SOL_SOCKET, SO_RCVTIMEO, {tv_sec=1, tv_usec=500000}, 16) = 0`:                                                                  1500 * time.Millisecond,
		`ppoll([{fd=5, events=POLLIN}], 1, {tv_sec=4, tv_nsec=0}, NULL, 8) = 1 ([{fd=5}])`:                                                            4 * time.Second,
		`poll([{fd=5, events=POLLIN}], 1, -1) = 1 ([{fd=5, revents=POLLIN}])`:                                                                         0,
		`poll([{fd=5, events=POLLIN}, {fd=6, events=POLLIN}], 2, 7000) = 1 ([{fd=5}])`:                                                                0,
		`poll([{fd=5, events=POLLOUT}], 1, 7000) = 1 ([{fd=5, revents=POLLOUT}])`:                                                                     0,
		`setsockopt(5, SOL_SOCKET, SO_RCVTIMEO_OLD, "\377\377\377\377\377\377\377\377\0\0\0\0\0\0\0\0", 16) = 0`:                                      0,
	} {
		c, err := conversationOf(t, "write(5, \"a\", 1) = 1\n"+text+"\nread(5, \"a\", 1) = 1\n", 0, 5)
		if err != nil || c.Timeout != want {
			t.Errorf("%s: %v, want %v, %v", text, c.Timeout, want, err)
		}
	}
}

// Writes that the kernel joins, by a flag of each or by TCP_CORK, are one write.
func TestJoinedWrites(t *testing.T) {
	for text, want := range map[string][]int{
		`send(5, "a"..., 10, 0) = 10`:                                {10, 90},
		`send(5, "a"..., 10, MSG_MORE) = 10`:                         {100},
		`sendto(5, "a"..., 10, MSG_NOSIGNAL|MSG_MORE, NULL, 0) = 10`: {100},
		`sendto(5, "MSG_MORE"..., 10, MSG_NOSIGNAL, NULL, 0) = 10`:   {10, 90},
		`sendmsg(5, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="a", iov_len=10}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, MSG_MORE) = 10`:     {100},
		"setsockopt(5, SOL_TCP, TCP_CORK, [1], 4) = 0\nwrite(5, \"a\"..., 10) = 10":                                                                        {100},
		"setsockopt(5, SOL_TCP, TCP_CORK, [1], 4) = 0\nwrite(5, \"a\"..., 4) = 4\nwrite(5, \"a\"..., 6) = 6\nsetsockopt(5, SOL_TCP, TCP_CORK, [0], 4) = 0": {10, 90},
	} {
		c, err := conversationOf(t, text+"\nwrite(5, \"b\"..., 90) = 90\nread(5, \"ok\"..., 100) = 2\n", 0, 5)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Messages(); !reflect.DeepEqual(got, []conversation.Message{{Writes: want, Answer: 2}}) {
			t.Errorf("%s: %+v, want %v", text, got, want)
		}
	}
}

func TestCongestionControl(t *testing.T) {
	for value, want := range map[string]string{`"cubic", 5`: "cubic", `"bbr\0", 4`: "", `[1869505906], 4`: "reno", `[1], 4`: "", `NULL, 0`: "", `"bb`: "bb"} {
		c, err := conversationOf(t, "setsockopt(5, SOL_TCP, TCP_CONGESTION, "+value+") = 0\nwrite(5, \"b\"..., 90) = 90\n", 0, 5)
		if err != nil || c.Congestion != want || (want != "") != strings.Contains(strings.Join(c.Set, ";"), "TCP_CONGESTION "+want+" (line 1)") {
			t.Errorf("%s: %q %q, want %q, %v", value, c.Congestion, c.Set, want, err)
		}
	}
}

// Whatever a trace holds, a conversation has no more bytes than its calls, and nothing panics.
func FuzzConversation(f *testing.F) {
	f.Add([]byte(aClient))
	f.Add([]byte("setsockopt(5, SOL_TCP, TCP_NODELAY, ["))
	f.Add([]byte("poll([{fd=5, events=POLLIN}], 1, {tv_sec=99999999999999999, tv_nsec=1}) = 1\nwrite(5, \"\", 3) = 3\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		k := newKeeper(0, 5, "trace")
		tr := New(nowhere{}, Options{Called: k.called})
		var l Line
		for line := range strings.SplitSeq(string(b), "\n") {
			l.Parse([]byte(line))
			tr.Line(&l)
		}
		tr.End()
		c, err := k.best(true)
		if err != nil {
			return
		}
		if c.Timeout < 0 || c.Timeout > mostTimeout+time.Second {
			t.Fatalf("timeout %v", c.Timeout)
		}
		for _, m := range c.Messages() {
			for _, n := range m.Writes {
				if n <= 0 || m.Answer < 0 {
					t.Fatalf("%+v", m)
				}
			}
		}
	})
}
