package sockets

import (
	"net"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

// readsAtOnce is a reader that does not sleep: it may have an answer before the event that announces it.
func readsAtOnce(c *net.UDPConn, until time.Time) (n int) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	buf := make([]byte, 1500)
	_ = raw.Control(func(fd uintptr) {
		for time.Now().Before(until) {
			if _, _, err := unix.Recvfrom(int(fd), buf, unix.MSG_DONTWAIT); err == nil {
				n++
			}
		}
	})
	return n
}

func TestAnswersThatAreReadAtOnce(t *testing.T) {
	b := newBench(t)
	b.nameServer("udp4", "127.0.0.2:53", atOnce(0, dnsmessage.RCodeSuccess))
	b.nameServer("udp4", "127.0.0.3:53", atOnce(0, dnsmessage.RCodeServerFailure))
	b.nameServer("udp4", "127.0.0.4:53", atOnce(0, dnsmessage.RCodeSuccess))
	b.nameServer("udp4", "127.0.0.5:53", atOnce(0, dnsmessage.RCodeSuccess))
	c := b.datagrams("udp4", "0.0.0.0:0")
	b.sendTo(c, "127.0.0.2:53", 1)
	r := b.start()
	time.Sleep(noticed)
	b.sendTo(c, "127.0.0.2:53", 2)
	time.Sleep(noticed)
	const rounds, each = 60, 20
	read := make(chan int)
	go func() { read <- readsAtOnce(c, time.Now().Add(rounds*20*time.Millisecond+time.Second)) }()
	id := uint16(10)
	for range rounds {
		for range uint16(each) {
			b.sendTo(c, "127.0.0.2:53", id)
			b.sendTo(c, "127.0.0.3:53", id+each)
			id++
		}
		id += each
		for range uint16(each) { // the same id, two servers
			b.sendTo(c, "127.0.0.4:53", id)
			b.sendTo(c, "127.0.0.5:53", id)
			id++
		}
		time.Sleep(20 * time.Millisecond)
	}
	got := <-read
	time.Sleep(5500 * time.Millisecond) // until what has no answer is given up
	r.Stop()
	rec := b.needs(r, "sockets.queries")
	if want := 4*rounds*each + 2; got < want {
		t.Fatalf("%d answers were read, want %d", got, want)
	}
	for remote, failed := range map[string]bool{"127.0.0.2:53": false, "127.0.0.3:53": true, "127.0.0.4:53": false, "127.0.0.5:53": false} {
		q := asked(rec, b, remote)
		t.Logf("%s: %+v", remote, q)
		if q.GaveUp != 0 || q.Asked < rounds*each || q.Answered+q.Unknown != q.Asked {
			t.Errorf("%s: %d asked, %d answered, %d given up, %d unknown", remote, q.Asked, q.Answered, q.GaveUp, q.Unknown)
		}
		if remote < "127.0.0.4" && (q.Unknown != 0 || failed != (q.Failed == q.Asked) || failed != (q.Failed > 0)) {
			t.Errorf("%s: %+v", remote, q)
		}
	}
}
