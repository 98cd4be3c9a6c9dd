package recorded

import (
	"strings"
	"testing"
	"time"

	"snag/recording"
)

func u(n uint64) *uint64 { return &n }

func call(second float64, pid int, name string, n, done uint64) recording.Call {
	return recording.Call{T: recording.Time(second * 1e9), PID: pid, Call: name, FD: 5, N: n, Done: u(done)}
}

func TestConversation(t *testing.T) {
	on := true
	r := &recording.Recording{
		Calls: []recording.Call{
			call(100, 7, "write", 4, 401), call(100, 7, "read", 9, 40), call(101, 7, "sendto", 1, 50), call(101, 7, "recvfrom", 1, 2),
			{T: 100e9, PID: 7, Call: "fsync", FD: 5, N: 3}, {T: 100e9, PID: 7, Call: "write", FD: 6, N: 1, Done: u(999)},
		},
		Sockets: []recording.Socket{{State: "ESTABLISHED", Local: "10.0.0.1:4000", Remote: "10.0.0.2:80", Owners: []recording.FDRef{{PID: 7, FD: 5}}, Options: &recording.SocketOptions{NoDelay: &on, SndBuf: 87040, RcvBuf: 131072}}},
	}
	r.Calls[1].Errors = map[string]uint64{"EAGAIN": 5}
	c, err := Conversation(r, "rec", 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	m := c.Messages()
	if len(m) != 5 || m[0].Writes[0] != 101 || m[1].Writes[0] != 100 || m[1].At != 250*time.Millisecond || m[3].Answer != 10 || m[4].At != time.Second || m[4].Writes[0] != 50 || m[4].Answer != 2 {
		t.Errorf("%+v", m)
	}
	if c.NoDelay == nil || !*c.NoDelay || c.SendBuffer != 0 || c.From != "rec, descriptor 5 of process 7, 2 seconds of calls" || !strings.Contains(strings.Join(c.Lacks, "; "), "they were 87040 bytes to send") {
		t.Errorf("%+v", c)
	}
	// The same calls of a server: what it reads is what a client sends.
	r.FDs = []recording.FD{{PID: 7, FD: 5, Local: "10.0.0.1:80", Remote: "10.0.0.9:4000"}}
	r.Sockets = append(r.Sockets, recording.Socket{State: "LISTEN", Local: "0.0.0.0:80"})
	if c, err = Conversation(r, "rec", 7, 5); err != nil || c.Messages()[0].Writes[0] != 10 || c.Messages()[0].Answer < 100 {
		t.Errorf("%+v, %v", c.Messages(), err)
	}
	r.Calls = append(r.Calls, call(100, 8, "write", 1, 1))
	for _, bad := range []struct {
		pid, fd int
		want    string
	}{{0, 5, "is of processes [7 8]: choose one with --pid"}, {0, 9, "has no calls that moved bytes over descriptor 9"}} {
		if _, err := Conversation(r, "rec", bad.pid, bad.fd); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%v, want %q", err, bad.want)
		}
	}
}
