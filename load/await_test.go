package load

import (
	"context"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/load/protocol"
)

// madeRun is a run whose connections were made by the test.
func madeRun(p Plan, conns ...conn) *run {
	for i := range conns {
		conns[i].next, conns[i].heapAt = int64(i), -1
	}
	return &run{plan: p, conns: conns, began: time.Now(), buf: make([]byte, 4096), until: time.Hour,
		out: &Result{Plan: p, Lost: map[Kind]int64{}, FromDue: newHistogram(), FromSent: newHistogram(), Lag: newHistogram()}}
}

func socketPair(t *testing.T, kind int) (here, there int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fds[0]); _ = unix.Close(fds[1]) })
	return fds[0], fds[1]
}

// A ping-pong takes its answer without the poller, which would sleep: here there is none.
func TestAPingPongNeverSleeps(t *testing.T) {
	here, there := socketPair(t, unix.SOCK_STREAM)
	r := madeRun(Plan{PingPong: true, Conns: 1}, conn{fd: here, at: waiting, talk: protocol.Sized{Writes: [][]byte{{1}}, Answer: 4}.New()})
	go func() {
		time.Sleep(2 * time.Millisecond)
		_, _ = unix.Write(there, []byte("pong"))
	}()
	for r.conns[0].at == waiting && time.Since(r.began) < 5*time.Second {
		if err := r.take(); err != nil {
			t.Fatal(err)
		}
	}
	if r.conns[0].at != free || r.out.Done != 1 || r.waited < time.Millisecond {
		t.Errorf("%d answers, after %v of waiting", r.out.Done, r.waited)
	}
}

func TestPingPong(t *testing.T) {
	for _, url := range []string{"tcp://127.0.0.1:1", "udp://127.0.0.1:1", "https://127.0.0.1:1/"} {
		p := plan(null(t, url, Request{Size: 64, Reply: 64}))
		p.Rate, p.Conns, p.PingPong, p.For = 0, 1, true, 200*time.Millisecond
		r, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if r.Done < 50 || r.Done != r.Sent || !r.Lossless() || r.Open > 1 || r.FromSent.TotalCount() != r.Done {
			t.Errorf("%s: %d sent, %d answered, %.2f open, lost %v", url, r.Sent, r.Done, r.Open, r.Lost)
		}
	}
	// A server that does not answer is given up, also while it is read again and again.
	here, _ := socketPair(t, unix.SOCK_STREAM)
	fd, err := unix.Dup(here) // that the run closes
	if err != nil {
		t.Fatal(err)
	}
	r := madeRun(Plan{PingPong: true, Conns: 1, Timeout: 60 * time.Millisecond, Target: Target{Network: "tcp"}}, conn{fd: fd, at: waiting, talk: protocol.Sized{Writes: [][]byte{{1}}, Answer: 4}.New()})
	for r.conns[0].at == waiting && time.Since(r.began) < 5*time.Second {
		r.clock()
		if _, err := r.step(); err != nil {
			t.Fatal(err)
		}
	}
	if r.out.Lost[NoAnswer] != 1 {
		t.Errorf("lost %v", r.out.Lost)
	}
}

// Who spins is there when a request is due, and who sleeps is woken later.
func TestSpinIsThereInTime(t *testing.T) {
	late := map[bool]time.Duration{}
	for _, spin := range []bool{false, true} {
		var all []time.Duration
		r := madeRun(Plan{Spin: spin}, conn{fd: -1, at: free})
		var err error
		if r.poll, err = newPoller(); err != nil {
			t.Fatal(err)
		}
		defer r.poll.close()
		c := &r.conns[0]
		for range 101 {
			r.clock()
			c.freeAt = r.now + time.Millisecond
			r.order.add(c, &r.plan)
			if _, err := r.await(); err != nil {
				t.Fatal(err)
			}
			all = append(all, r.now-c.readyAt)
			r.order.remove(c)
		}
		slices.Sort(all)
		if late[spin] = all[len(all)/2]; late[spin] < 0 {
			t.Errorf("spin %v: %v before it was due", spin, -late[spin])
		}
	}
	if 2*late[true] >= late[false] {
		t.Errorf("late by %v with spinning, %v without", late[true], late[false])
	}
}

// A datagram that the socket has no room for is sent when there is room.
func TestADatagramWaitsForRoom(t *testing.T) {
	here, there := socketPair(t, unix.SOCK_DGRAM)
	talk := protocol.Sized{Writes: [][]byte{make([]byte, 100)}, Datagram: true}.New()
	r := madeRun(Plan{Conns: 1}, conn{fd: here, at: free, datagrams: true, talk: talk})
	var err error
	if r.poll, err = newPoller(); err != nil {
		t.Fatal(err)
	}
	defer r.poll.close()
	c := &r.conns[0]
	if err := r.poll.add(here, 0, false); err != nil {
		t.Fatal(err)
	}
	for range 100_000 {
		r.order.remove(c)
		if err := r.ask(c); err != nil || c.at == asking {
			break
		}
	}
	if c.at != asking {
		t.Fatalf("the socket took everything: %v", r.out.Lost)
	}
	before := r.out.Done
	b := make([]byte, 200)
	for { // the receiver takes all
		if _, err := unix.Read(there, b); err != nil {
			break
		}
	}
	for range 3 {
		if err := r.take(); err != nil {
			t.Fatal(err)
		}
	}
	if r.out.Done != before+1 || c.at != free {
		t.Errorf("%d sent after there was room, want 1", r.out.Done-before)
	}
}

// A load in which the next request is always due ends when it is to end.
func TestALoadWithoutAnswersCanBeStopped(t *testing.T) {
	to := null(t, "udp://127.0.0.1:1", Request{Size: 64})
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	p := plan(to)
	p.Rate, p.For = 0, 3*time.Second
	begun := time.Now()
	r, err := Run(ctx, p)
	if err != nil || r.Done == 0 || time.Since(begun) > 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}
