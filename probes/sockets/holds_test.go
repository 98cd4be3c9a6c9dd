package sockets

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"snag/recording"
)

// exchange makes rounds of the classic pattern on one connection: the client
// writes twice and waits, the server answers when it has both. Without
// TCP_NODELAY the second write waits for the delayed ACK of the first.
func exchange(t *testing.T, c *net.TCPConn, noDelay bool, rounds int) {
	t.Helper()
	if err := c.SetNoDelay(noDelay); err != nil { // Go sets it by default
		t.Fatal(err)
	}
	reply := make([]byte, 20)
	for range rounds {
		c.Write([]byte("0123456789"))
		c.Write([]byte("0123456789"))
		if _, err := io.ReadFull(c, reply); err != nil {
			t.Fatal(err)
		}
	}
}

func answer(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			buf := make([]byte, 20)
			for {
				if _, err := io.ReadFull(c, buf); err != nil {
					return
				}
				c.Write(buf)
			}
		}()
	}
}

func TestHeldWritesAreMatchedWithTheirACK(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7003")
	go answer(l)
	nagle, noDelay := b.dial("127.0.0.1:7003"), b.dial("127.0.0.1:7003")
	r := b.start()
	time.Sleep(300 * time.Millisecond)
	const rounds = 40
	begin := time.Now()
	exchange(t, nagle, false, rounds)
	took := time.Since(begin)
	exchange(t, noDelay, true, rounds)
	time.Sleep(100 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.holds")
	var sum recording.Hold
	for _, h := range rec.Holds {
		if h.Netns != b.id {
			continue
		}
		if h.Local != nagle.LocalAddr().String() || h.Remote != "127.0.0.1:7003" || h.PID != os.Getpid() || h.Inode == 0 {
			t.Errorf("a hold on %+v, want only %s of process %d", h, nagle.LocalAddr(), os.Getpid())
		}
		sum.Writes += h.Writes
		sum.Held += h.Held
		sum.Released += h.Released
		sum.HoldSum += h.HoldSum
		sum.HoldMax = max(sum.HoldMax, h.HoldMax)
	}
	t.Logf("%d rounds took %v: %+v", rounds, took, sum)
	// The first exchanges of a connection are acknowledged at once (quickack). An
	// ACK that comes on the other CPU while the write is being looked at frees it
	// before it is known as held: on a busy machine one in tens.
	if sum.Held < rounds/2 || sum.Held > rounds || sum.Released > sum.Held || sum.Released < sum.Held-sum.Held/10 {
		t.Errorf("held %d and released %d of %d", sum.Held, sum.Released, rounds)
	}
	if sum.Writes < 2*rounds-3 || sum.Writes > 2*rounds {
		t.Errorf("%d writes, want %d", sum.Writes, 2*rounds)
	}
	if share := sum.HoldSum / took.Seconds(); share < 0.5 || share > 1.001 {
		t.Errorf("the holds explain %.2f of the time, want most", share)
	}
	if rec.Holds[0].Held > 0 && !b.env.Watch.Has(os.Getpid()) {
		t.Error("the process with held writes is not watched")
	}
	found := false
	for _, s := range rec.Sockets {
		if s.Options != nil && s.Local == nagle.LocalAddr().String() && s.Remote == "127.0.0.1:7003" {
			found = s.Options.NoDelay != nil && !*s.Options.NoDelay && s.Options.NonBlock != nil && *s.Options.NonBlock
		}
	}
	if !found {
		t.Error("no row says that TCP_NODELAY is off on the held socket")
	}
}

func TestHeldWritesOfAConnectionThatCloses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7013")
	go answer(l)
	r := b.start()
	time.Sleep(100 * time.Millisecond)
	const rounds = 4
	c := b.dial("127.0.0.1:7013")
	exchange(t, c, false, rounds)
	c.Close() // within the second: the kernel's count of its writes goes with it
	time.Sleep(100 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.holds")
	var writes, held, released uint64
	for _, h := range rec.Holds {
		if h.Netns == b.id {
			writes, held, released = writes+h.Writes, held+h.Held, released+h.Released
		}
	}
	if held == 0 || held > rounds || released != held || writes != 2*rounds {
		t.Errorf("%d writes, %d held, %d released; want %d writes, a few held", writes, held, released, 2*rounds)
	}
}
