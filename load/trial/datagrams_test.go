package trial

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/load"
	"snag/load/elimination"
)

// echoing answers each datagram after some work, with so much room in its socket; 0: as the kernel has it.
func echoing(t *testing.T, room int, work time.Duration) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if udp, ok := c.(*net.UDPConn); ok && room > 0 {
		if err := udp.SetReadBuffer(room); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		b := make([]byte, 1<<16)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			time.Sleep(work)
			_, _ = c.WriteTo(b[:n], from)
		}
	}()
	return "udp://" + c.LocalAddr().String()
}

func udpPlan(t *testing.T, url string) Plan {
	p := planOf(t, url, load.Request{Size: 64, Reply: 64})
	p.HighRate = 100
	return p
}

// Nobody listens, and the host reports it: that is found, and the run ends there.
func TestClosedPort(t *testing.T) {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	m := run(t, context.Background(), udpPlan(t, "udp://"+c.LocalAddr().String()))
	if got := found(m); len(got) != 1 || got[0] != "closed-port" || m.Port.Refused < portEnough || m.Port.Answered != 0 || m.Bursts != nil {
		t.Errorf("found %v: %+v", got, m.Port)
	}
}

// A small receive buffer loses of what comes at once, and nothing of what comes one at a time.
func TestSmallBuffer(t *testing.T) {
	m := run(t, context.Background(), udpPlan(t, echoing(t, 1, time.Millisecond)))
	if got := found(m); len(got) != 1 || got[0] != "receive-buffer" || len(m.Bursts.AtOnce) != burstTries || m.Bursts.Spread.N != m.Bursts.Spread.Answered || m.Bursts.Dropped != 0 {
		t.Errorf("found %v: %+v", got, m.Bursts)
	}
}

// One with room for all of them is not accused, though it answers them one after the other.
func TestEnoughRoom(t *testing.T) {
	m := run(t, context.Background(), udpPlan(t, echoing(t, 0, time.Millisecond)))
	if got := found(m); len(got) != 0 {
		t.Errorf("found %v: %+v", got, elimination.Tell(m))
	}
	for _, id := range []string{"closed-port", "receive-buffer"} {
		if !slices.ContainsFunc(elimination.Tell(m).RuledOut, func(s elimination.Standing) bool { return s.Suspect == id }) {
			t.Errorf("%s is not ruled out: %+v, %+v", id, m.Port, m.Bursts)
		}
	}
	if m.Address == "" || m.Bytes != nil {
		t.Errorf("%q, %+v", m.Address, m.Bytes)
	}
}

// So slow a service cannot answer a burst in time, whatever its buffer holds: that is no experiment.
func TestBurstsOfASlowService(t *testing.T) {
	p := udpPlan(t, echoing(t, 0, 0))
	tr, err := newTrial(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.resolve(context.Background()); err != nil {
		t.Fatal(err)
	}
	tr.live, tr.m.Kept = tr.addresses[0], &elimination.Asked{Times: elimination.Times{N: 20, P50: 0.4}}
	if err := tr.bursts(context.Background()); err == nil || !strings.Contains(err.Error(), "takes so long") || tr.m.Bursts != nil {
		t.Errorf("%v, %+v", err, tr.m.Bursts)
	}
}

// Datagrams that fill a packet, and fragments, are sent as they are meant to be.
func TestBytes(t *testing.T) {
	p := udpPlan(t, echoing(t, 0, 0))
	tr, err := newTrial(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.resolve(context.Background()); err != nil {
		t.Fatal(err)
	}
	tr.live = tr.addresses[0]
	out, mtu, _, err := tr.sized(context.Background(), 1400, 0)
	if err != nil || out.N != bytesTries || out.Answered != bytesTries || mtu < 1500 {
		t.Errorf("%+v, MTU %d, %v", out, mtu, err)
	}
	p.Request.Data = "as it is"
	tr.Plan = p
	if err := tr.bytes(context.Background()); err == nil || !strings.Contains(err.Error(), "cannot be chosen") {
		t.Errorf("%v", err)
	}
}

// A service that answers nothing is not one of which nothing is known: each of its requests failed.
func TestNoDatagramIsAnswered(t *testing.T) {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p := udpPlan(t, "udp://"+c.LocalAddr().String())
	p.Beside = true
	m := run(t, context.Background(), p)
	if tried, failed := m.Attempts(); tried < 2 || failed != tried || !m.IsSlow() {
		t.Errorf("%d of %d attempts failed, slow %v: %+v", failed, tried, m.IsSlow(), m.Kept)
	}
}
