package load

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/load/protocol"
)

// An answer that was read long after it came counts from when it came, and as open until then.
func TestAnAnswerThatIsReadLate(t *testing.T) {
	const answer, read = 5 * time.Millisecond, 60 * time.Millisecond
	sent := make(chan time.Time, 1)
	at := serving(t, func(c net.Conn) {
		time.Sleep(answer)
		sent <- time.Now()
		_, _ = c.Write([]byte("pong"))
		time.Sleep(2 * read)
	})
	tcp, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	f, err := tcp.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fd := int(f.Fd())
	for _, err := range []error{unix.SetNonblock(fd, true), unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r := madeRun(Plan{Rate: 1, Conns: 1}, conn{fd: fd, talk: protocol.Sized{Writes: [][]byte{{1}}, Answer: 4}.New()})
	r.dozes = true
	c := &r.conns[0]
	r.clock()
	r.begin(c, &c.openRequest)
	c.at = waiting
	time.Sleep(read)
	r.clock()
	r.openUntil(r.now) // a second may end meanwhile
	if err := r.read(c, false); err != nil {
		t.Fatal(err)
	}
	came := (<-sent).Sub(r.began)
	if r.now < read {
		t.Errorf("the clock is at %v", r.now)
	}
	if got := time.Duration(r.out.FromSent.Mean()); r.out.Done != 1 || got < came-c.sent || got > came-c.sent+20*time.Millisecond {
		t.Errorf("%d answers, within %v; it came after %v", r.out.Done, got, came-c.sent)
	}
	if got, want := r.area, r.out.FromSent.Mean()/1e9; got < 0.95*want || got > 1.05*want || r.open != 0 {
		t.Errorf("%d open, %g s in all, want %g", r.open, got, want)
	}
}

// Who dozes reads later and measures the same.
func TestDozing(t *testing.T) {
	at := echoAfter(t, func() {})
	r := ran(t, Plan{Target: Target{Network: "tcp", Address: at, Name: at, Protocol: protocol.Sized{Writes: [][]byte{make([]byte, 64)}, Answer: 64}},
		Rate: 8000, Conns: 16, For: time.Second, Timeout: time.Second, Options: SocketOptions{CPU: -1}})
	if n := r.Rate() * r.FromSent.Mean() / 1e9; r.Done < 2000 || n < 0.9*r.Open || n > 1.1*r.Open {
		t.Errorf("%d answers; %.2f requests were open on average, by Little's law %.2f", r.Done, r.Open, n)
	}
	if least := r.FromSent.Min(); least < 3000 {
		t.Errorf("an answer within %d ns: that is less than a round trip", least)
	}
	for name, p := range map[string]Plan{"spinning": {Rate: 1, Spin: true}, "as fast as it can": {}, "streams": {Rate: 1, Streams: 2}, "ping-pong": {Rate: 1, PingPong: true}} {
		if mayDoze(p) {
			t.Errorf("%s: it may doze", name)
		}
	}
}

func ran(t *testing.T, p Plan) *Result {
	t.Helper()
	r, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
