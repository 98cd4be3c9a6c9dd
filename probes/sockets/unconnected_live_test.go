package sockets

import (
	"net"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"snag/recording"
)

// datagrams opens a UDP socket inside the namespace that is connected to nobody.
func (b *bench) datagrams(network, addr string) *net.UDPConn {
	b.t.Helper()
	var c net.PacketConn
	b.do(func() (err error) {
		c, err = net.ListenPacket(network, addr)
		return err
	})
	b.t.Cleanup(func() { c.Close() })
	return c.(*net.UDPConn)
}

func (b *bench) sendTo(c *net.UDPConn, to string, id uint16) {
	b.t.Helper()
	addr, err := net.ResolveUDPAddr("udp", to)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := c.WriteTo(query(b.t, id), addr); err != nil {
		b.t.Error(err)
	}
}

// ignores reads what comes, and answers nobody.
func ignores(c *net.UDPConn) {
	for buf := make([]byte, 1500); ; {
		if _, _, err := c.ReadFrom(buf); err != nil {
			return
		}
	}
}

// atOnce answers each query that time later, however many there are.
func atOnce(after time.Duration, code dnsmessage.RCode) func(c *net.UDPConn) {
	return func(c *net.UDPConn) {
		for {
			buf := make([]byte, 1500)
			n, from, err := c.ReadFromUDP(buf)
			if err != nil {
				return
			}
			time.AfterFunc(after, func() { _, _ = c.WriteTo(answerOf(buf[:n], code), from) })
		}
	}
}

// asked adds up what was recorded of a name server.
func asked(rec *recording.Recording, b *bench, remote string) (sum recording.Queries) {
	for _, q := range rec.Queries {
		if q.Netns != b.id || q.Remote != remote {
			continue
		}
		sum.Asked += q.Asked
		sum.Answered += q.Answered
		sum.Sum += q.Sum
		sum.Max = max(sum.Max, q.Max)
		sum.GaveUp += q.GaveUp
		sum.GaveUpSum += q.GaveUpSum
		sum.GaveUpMin, sum.GaveUpMax = q.GaveUpMin, max(sum.GaveUpMax, q.GaveUpMax)
		if sum.Failed += q.Failed; q.Failed > 0 {
			sum.FailedAs = q.FailedAs
		}
		sum.Unknown += q.Unknown
		sum.Open, sum.Oldest = max(sum.Open, q.Open), max(sum.Oldest, q.Oldest)
		sum.PID, sum.Comm = q.PID, q.Comm
	}
	return sum
}

// One socket that asks many, and tells the answers apart by itself.
func TestQueriesOfSocketsThatAreNotConnected(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.nameServer("udp4", "127.0.0.2:53", atOnce(100*time.Millisecond, dnsmessage.RCodeSuccess))
	b.nameServer("udp4", "127.0.0.3:53", atOnce(0, dnsmessage.RCodeServerFailure))
	b.nameServer("udp4", "127.0.0.4:53", ignores)
	b.nameServer("udp4", "127.0.0.5:53", ignores)
	b.nameServer("udp6", "[::1]:53", atOnce(30*time.Millisecond, dnsmessage.RCodeRefused))
	c, c6 := b.datagrams("udp4", "0.0.0.0:0"), b.datagrams("udp", "[::]:0")
	go ignores(c)
	go ignores(c6)
	r := b.start()
	time.Sleep(noticed)
	b.sendTo(c, "127.0.0.5:53", 1) // has no answer in 5 s
	for i := range uint16(5) {
		b.sendTo(c, "127.0.0.2:53", 10+i) // all at a time
		b.sendTo(c, "127.0.0.3:53", 10+i) // the same number, another server
	}
	b.sendTo(c6, "[::1]:53", 20)
	b.sendTo(c6, "127.0.0.2:53", 21)  // from a socket of both families
	b.sendTo(c, "127.0.0.2:5353", 30) // no name server
	b.sendTo(c, "127.0.0.4:53", 40)
	b.sendTo(c, "127.0.0.4:53", 40) // sent twice
	time.Sleep(1200 * time.Millisecond)
	b.sendTo(c, "127.0.0.4:53", 40)           // asked again
	early := b.datagrams("udp4", "0.0.0.0:0") // closes before anybody could answer
	b.sendTo(early, "127.0.0.4:53", 41)
	early.Close()
	time.Sleep(6 * time.Second)
	r.Stop()
	rec := b.needs(r, "sockets.queries")

	slow := asked(rec, b, "127.0.0.2:53")
	if slow.Asked != 6 || slow.Answered != 6 || slow.GaveUp != 0 || slow.Failed != 0 || slow.PID == 0 || slow.Comm == "" {
		t.Errorf("of the slow one: %+v", slow)
	}
	between(t, "its answers", slow.Sum/6, 0.1, 0.2)
	for remote, want := range map[string]recording.Queries{
		"127.0.0.3:53": {Asked: 5, Answered: 5, Failed: 5, FailedAs: "DNS SERVFAIL"},
		"127.0.0.4:53": {Asked: 3, GaveUp: 2, Unknown: 1},
		"127.0.0.5:53": {Asked: 1, GaveUp: 1},
		"[::1]:53":     {Asked: 1, Answered: 1, Failed: 1, FailedAs: "DNS REFUSED"},
	} {
		got := asked(rec, b, remote)
		if got.Asked != want.Asked || got.Answered != want.Answered || got.GaveUp != want.GaveUp || got.Failed != want.Failed || got.FailedAs != want.FailedAs || got.Unknown != want.Unknown {
			t.Errorf("%s: %+v, want %+v", remote, got, want)
		}
		t.Logf("%s: %+v", remote, got)
	}
	silent := asked(rec, b, "127.0.0.5:53")
	between(t, "until it was given up", silent.GaveUpMax, 5, 5.01)
	between(t, "the oldest that was open", silent.Oldest, 3.5, 5.1)
	between(t, "until it was asked again", asked(rec, b, "127.0.0.4:53").GaveUpSum-5, 1.1, 1.6)
}

// What forwards asks from sockets that are not connected: how long its upstream takes, what it
// fails and what it leaves without an answer.
func TestQueriesOfDnsmasq(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("dnsmasq")
	if err != nil {
		t.Skip("dnsmasq is not installed")
	}
	b := newBench(t)
	const every, count = 3, 12 // each third has no answer
	b.nameServer("udp4", "127.0.0.2:53", func(c *net.UDPConn) {
		for i := 0; ; i++ {
			buf := make([]byte, 1500)
			n, from, err := c.ReadFromUDP(buf)
			if err != nil {
				return
			}
			if i%every == 0 {
				continue
			}
			time.AfterFunc(80*time.Millisecond, func() { _, _ = c.WriteTo(answerOf(buf[:n], dnsmessage.RCodeServerFailure), from) })
		}
	})
	cmd := exec.Command(path, "--no-daemon", "--no-resolv", "--no-hosts", "--conf-file=/dev/null", "--cache-size=0", "--pid-file=",
		"--listen-address=127.0.0.1", "--bind-interfaces", "--server=127.0.0.2", "--user=root")
	b.do(cmd.Start)
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	r := b.start()
	time.Sleep(noticed)
	b.ask("127.0.0.1:53", count, count-count/every)
	time.Sleep(6 * time.Second)
	r.Stop()
	got := asked(b.needs(r, "sockets.queries"), b, "127.0.0.2:53")
	if got.Asked != count || got.Answered != count-count/every || got.Failed != got.Answered || got.GaveUp != count/every || got.Comm != "dnsmasq" || got.PID != cmd.Process.Pid {
		t.Errorf("%+v", got)
	}
	between(t, "its answers", got.Sum/float64(max(got.Answered, 1)), 0.08, 0.2)
}
