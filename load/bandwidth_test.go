package load

import (
	"context"
	"math"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestBits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"50Mbit": 50e6, "1.5Gbit/s": 1.5e9, "800kbit": 800e3, "64bit": 64, "3mbit": 3e6} {
		if got, err := ParseBits(text); err != nil || math.Abs(got-want) > 1 {
			t.Errorf("%s: %g, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "50", "50MB", "-5Mbit", "0bit", "5Tbit", "2000Gbit", "1e9bit"} {
		if got, err := ParseBits(text); err == nil {
			t.Errorf("%q is %g", text, got)
		}
	}
}

func bandwidth(t *testing.T, to Target, bits float64, window time.Duration) *Result {
	t.Helper()
	p := plan(to)
	p.Conns, p.Warm, p.For = 1, 200*time.Millisecond, window
	p, err := p.ForBandwidth(bits)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Flow == nil || math.Abs(r.Flow.Needed/bits-1) > 1e-9 {
		t.Fatalf("%+v", r.Flow)
	}
	return r
}

// sink reads what comes, so many bytes per second at most, and counts it.
func sink(t *testing.T, most float64) (address string, got *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	got = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.(*net.TCPConn).SetReadBuffer(64 << 10)
			go func() {
				b, began, had := make([]byte, 8<<10), time.Now(), 0
				for {
					n, err := c.Read(b)
					if err != nil {
						return
					}
					got.Add(int64(n))
					had += n
					if due := time.Duration(float64(had) / most * float64(time.Second)); due > time.Since(began) {
						time.Sleep(due - time.Since(began))
					}
				}
			}()
		}
	}()
	return l.Addr().String(), got
}

func TestABandwidthThatIsThere(t *testing.T) {
	address, got := sink(t, 1e9)
	// An acknowledgement may be 40 ms late at either end of the time, which is 4 % of a second.
	r := bandwidth(t, target(t, "tcp://"+address, Request{Size: 1400}), 20e6, 4*time.Second)
	f := r.Flow
	// A machine that is busy sends later than it should; what is sent is acknowledged all the same.
	if f.Acked == nil {
		t.Fatalf("%+v", f)
	}
	enough, _ := f.Enough()
	if math.Abs(*f.Acked/f.Sent-1) > 0.02 || f.Sent < 10e6 || f.Sent > 21e6 || enough != (*f.Acked >= 0.98*20e6) || f.Returned != nil || f.Message != 1400 || r.Honest() != "" {
		t.Errorf("%+v, acknowledged %g, enough: %v (%s)", f, *f.Acked, enough, r.Honest())
	}
	if all := 8 * float64(got.Load()); all < 35e6 || all > 91e6 { // of 4.2 s
		t.Errorf("%g bits arrived", all)
	}
}

func available(f *Flow) bool {
	enough, _ := f.Enough()
	return enough
}

// Acknowledgements may come 40 ms late at either end of the time: 4 % of a second, 0.8 % of five.
func TestAShortTimeIsNotSure(t *testing.T) {
	for _, c := range []struct {
		seconds, share float64
		enough, sure   bool
	}{
		{1, 0.985, true, true}, {1, 0.96, false, false}, {1, 0.93, false, true},
		{5, 0.985, true, true}, {5, 0.975, false, false}, {5, 0.96, false, true},
	} {
		acked := c.share * 1e6
		f := &Flow{Seconds: c.seconds, Needed: 1e6, Sent: 1e6, Acked: &acked}
		if enough, sure := f.Enough(); enough != c.enough || sure != c.sure {
			t.Errorf("%g of the bandwidth in %g s: enough %v, sure %v", c.share, c.seconds, enough, sure)
		}
	}
}

// A receiver that takes 8 of 80 Mbit/s: what is acknowledged is what it takes, and its window is what limits.
func TestABandwidthThatIsNotThere(t *testing.T) {
	address, _ := sink(t, 1e6)
	f := bandwidth(t, target(t, "tcp://"+address, Request{Size: 1400}), 80e6, time.Second).Flow
	if f.Acked == nil || available(f) || math.Abs(*f.Acked/8e6-1) > 0.25 || f.ByWindow < 0.5 {
		t.Errorf("%+v, acknowledged %v", f, f.Acked)
	}
}

// Messages are sent whether those before were answered or not.
func TestABandwidthWaitsForNoAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				b := make([]byte, 1<<20)
				for {
					n, err := c.Read(b)
					if err != nil {
						return
					}
					time.Sleep(50 * time.Millisecond)
					_, _ = c.Write(b[:n])
				}
			}()
		}
	}()
	f := bandwidth(t, target(t, "tcp://"+l.Addr().String(), Request{Size: 1000, Reply: 1000}), 4e6, time.Second).Flow
	if f.Returned == nil || f.Sent < 2e6 || math.Abs(*f.Returned/f.Sent-1) > 0.2 {
		t.Errorf("%+v, returned %v", f, f.Returned)
	}
}

// Every second datagram comes back.
func TestABandwidthOfDatagrams(t *testing.T) {
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		b := make([]byte, 2048)
		for i := 0; ; i++ {
			n, from, err := l.ReadFrom(b)
			if err != nil {
				return
			}
			if i%2 == 0 {
				_, _ = l.WriteTo(b[:n], from)
			}
		}
	}()
	to := "udp://" + l.LocalAddr().String()
	f := bandwidth(t, target(t, to, Request{Size: 1000, Reply: 1000}), 8e6, time.Second).Flow
	if f.Returned == nil || available(f) || math.Abs(*f.Returned/f.Sent-0.5) > 0.05 || f.Sent < 4e6 || f.Sent > 8.4e6 || f.Acked != nil {
		t.Errorf("%+v, returned %v", f, f.Returned)
	}
	f = bandwidth(t, target(t, to, Request{Size: 1000}), 8e6, time.Second).Flow
	if _, known := f.Carried(); known || available(f) || f.Sent < 4e6 || f.Sent > 8.4e6 {
		t.Errorf("nobody was asked for an answer: %+v", f)
	}
	if _, err := plan(target(t, to, Request{Size: 10})).ForBandwidth(50e9); err == nil || !strings.Contains(err.Error(), "larger messages") {
		t.Errorf("50 Gbit/s in messages of 10 bytes: %v", err)
	}
	if _, err := plan(target(t, "http://h/", Request{})).ForBandwidth(1e6); err == nil {
		t.Error("a bandwidth of HTTP")
	}
}

// A datagram that the user gave is sent as it is.
func TestDataOfAUserIsNotChanged(t *testing.T) {
	for _, scheme := range []string{"udp", "tcp"} {
		c := target(t, scheme+"://h:1", Request{Size: 64, Reply: 3, Data: "0123456789abcdef"}).Protocol.New()
		if got := string(c.Ask(7)[0]); got != "0123456789abcdef" {
			t.Errorf("%s: %q", scheme, got)
		}
	}
	if got := target(t, "udp://h:1", Request{Size: 16, Reply: 3}).Protocol.New().Ask(7)[0]; got[0] != 0x80 || got[7] != 7 {
		t.Errorf("%q has no number", got)
	}
}
