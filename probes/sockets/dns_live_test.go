package sockets

import (
	"fmt"
	"net"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/ipv4"

	"snag/recording"
)

// noticed is for how long a name server of another namespace may be there before its queries
// are measured: until the next dump of sockets.
const noticed = 1500 * time.Millisecond

// query is a question, in bytes, with that number, for a name of its own.
func query(t *testing.T, id uint16) []byte {
	t.Helper()
	name := dnsmessage.MustNewName(fmt.Sprintf("n%d.nowhere.test.", id))
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: id, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}}}
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// answerOf is the answer to a query, without any address.
func answerOf(q []byte, code dnsmessage.RCode) []byte {
	a := append([]byte(nil), q...)
	a[2] |= 0x80
	a[3] = a[3]&0xf0 | byte(code)
	return a
}

// nameServer listens for queries inside the namespace and hands its socket to serve.
func (b *bench) nameServer(network, addr string, serve func(c *net.UDPConn)) {
	b.t.Helper()
	go serve(b.datagrams(network, addr))
}

// oneByOne answers in the order in which it is asked, each after that time.
func oneByOne(after time.Duration, send func(c *net.UDPConn, answer []byte, to *net.UDPAddr), codes ...dnsmessage.RCode) func(c *net.UDPConn) {
	return func(c *net.UDPConn) {
		buf := make([]byte, 1500)
		for i := 0; ; i++ {
			n, from, err := c.ReadFromUDP(buf)
			if err != nil {
				return
			}
			time.Sleep(after)
			send(c, answerOf(buf[:n], codes[i%len(codes)]), from)
		}
	}
}

func bySendto(c *net.UDPConn, answer []byte, to *net.UDPAddr) { _, _ = c.WriteTo(answer, to) }

func bySendmsg(c *net.UDPConn, answer []byte, to *net.UDPAddr) {
	_, _, _ = c.WriteMsgUDP(answer, nil, to)
}

// byTwos answers two queries at a time, with one call.
func byTwos(c *net.UDPConn) {
	p := ipv4.NewPacketConn(c)
	for {
		var out []ipv4.Message
		for range 2 {
			buf := make([]byte, 1500)
			n, from, err := c.ReadFromUDP(buf)
			if err != nil {
				return
			}
			out = append(out, ipv4.Message{Buffers: [][]byte{answerOf(buf[:n], dnsmessage.RCodeServerFailure)}, Addr: from})
		}
		time.Sleep(30 * time.Millisecond)
		_, _ = p.WriteBatch(out, 0)
	}
}

// ask sends queries at once from one socket, and waits for as many answers.
func (b *bench) ask(server string, queries, answers int) {
	b.t.Helper()
	var c net.Conn
	b.do(func() (err error) {
		c, err = net.Dial("udp", server)
		return err
	})
	defer c.Close()
	for i := range queries {
		if _, err := c.Write(query(b.t, uint16(100+i))); err != nil {
			b.t.Error(err)
		}
	}
	_ = c.SetReadDeadline(time.Now().Add(3 * time.Second))
	buf := make([]byte, 1500)
	for range answers {
		if _, err := c.Read(buf); err != nil {
			b.t.Errorf("%s: %v", server, err)
			return
		}
	}
}

// served adds up what was recorded of a name server.
func served(rec *recording.Recording, b *bench, local string) (sum recording.Turns) {
	for _, r := range rec.Turns {
		if r.Netns != b.id || r.Role != "serve" || r.Proto != "udp" || r.Local != local {
			continue
		}
		sum.N += r.N
		sum.Untimed += r.Untimed
		sum.Sum += r.Sum
		sum.Wait += r.Wait
		sum.Max = max(sum.Max, r.Max)
		if sum.Failed += r.Failed; r.Failed > 0 {
			sum.FailedAs = r.FailedAs
		}
		sum.Open, sum.Oldest = max(sum.Open, r.Open), max(sum.Oldest, r.Oldest)
		sum.PID, sum.Comm, sum.Remote = r.PID, r.Comm, r.Remote
		sum.Hist = addHist(sum.Hist, r.Hist)
	}
	return sum
}

func TestNameServers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const fail, refuse, none = dnsmessage.RCodeServerFailure, dnsmessage.RCodeRefused, dnsmessage.RCodeNameError
	b.nameServer("udp4", "127.0.0.2:53", oneByOne(200*time.Millisecond, bySendto, dnsmessage.RCodeSuccess))
	b.nameServer("udp4", "127.0.0.3:53", oneByOne(0, bySendmsg, none, dnsmessage.RCodeSuccess))
	b.nameServer("udp4", "127.0.0.4:53", oneByOne(0, bySendto, fail, dnsmessage.RCodeSuccess))
	b.nameServer("udp4", "127.0.0.5:53", oneByOne(0, bySendmsg, refuse))
	b.nameServer("udp4", "127.0.0.6:53", byTwos)
	b.nameServer("udp4", "127.0.0.7:53", oneByOne(100*time.Millisecond, bySendto, none))
	b.nameServer("udp4", "127.0.0.8:53", func(c *net.UDPConn) { // reads, and answers nobody
		for buf := make([]byte, 1500); ; {
			if _, _, err := c.ReadFrom(buf); err != nil {
				return
			}
		}
	})
	b.nameServer("udp6", "[::1]:53", oneByOne(20*time.Millisecond, bySendmsg, fail))
	r := b.start()
	time.Sleep(noticed)
	b.ask("127.0.0.8:53", 6, 0)
	for range 5 {
		b.ask("127.0.0.2:53", 1, 1)
	}
	for range 20 {
		for _, server := range []string{"127.0.0.3:53", "127.0.0.4:53", "127.0.0.5:53"} {
			b.ask(server, 1, 1)
		}
	}
	b.ask("127.0.0.6:53", 6, 6)
	b.ask("127.0.0.7:53", 4, 4)
	b.ask("[::1]:53", 3, 3)
	time.Sleep(6 * time.Second)
	r.Stop()
	rec := b.needs(r, "sockets.dns")
	mean := func(s recording.Turns) float64 { return s.Sum / float64(max(s.N, 1)) }

	slow := served(rec, b, "127.0.0.2:53")
	if slow.N != 5 || slow.Failed != 0 || slow.Remote != "127.0.0.1" || slow.Comm == "" || slow.PID == 0 {
		t.Errorf("of the slow one: %+v", slow)
	}
	between(t, "its answers", mean(slow), 0.2, 0.3)
	between(t, "the longest", slow.Max, 0.2, 0.5)
	if n := sumOf(slow.Hist); n != slow.N {
		t.Errorf("%d of %d in the histogram", n, slow.N)
	}
	healthy := served(rec, b, "127.0.0.3:53")
	if healthy.N != 20 || healthy.Failed != 0 || healthy.Open != 0 {
		t.Errorf("of the healthy one: %+v", healthy)
	}
	between(t, "its answers", mean(healthy), 0, 0.1)
	for local, want := range map[string]recording.Turns{
		"127.0.0.4:53": {N: 20, Failed: 10, FailedAs: "DNS SERVFAIL"},
		"127.0.0.5:53": {N: 20, Failed: 20, FailedAs: "DNS REFUSED"},
		"127.0.0.6:53": {N: 6, Failed: 6, FailedAs: "DNS SERVFAIL"},
		"127.0.0.8:53": {Failed: 6, FailedAs: "no DNS answer in 5 s"},
		"[::1]:53":     {N: 3, Failed: 3, FailedAs: "DNS SERVFAIL"},
	} {
		got := served(rec, b, local)
		if got.N != want.N || got.Failed != want.Failed || got.FailedAs != want.FailedAs {
			t.Errorf("%s: %+v, want %+v", local, got, want)
		}
		t.Logf("%s: %+v", local, got)
	}
	// Four at once, one thread, 0.1 s each: 0.1, 0.2, 0.3, 0.4 s, of which 0, 0.1, 0.2, 0.3 s pass before they are
	// read.
	line := served(rec, b, "127.0.0.7:53")
	if line.N != 4 {
		t.Errorf("of the one thread: %+v", line)
	}
	between(t, "all its answers", line.Sum, 1, 1.3)
	between(t, "unread", line.Wait, 0.55, 0.85)
	silent := served(rec, b, "127.0.0.8:53")
	if silent.Open != 6 {
		t.Errorf("open where nobody is answered: %+v", silent)
	}
	between(t, "the oldest", silent.Oldest, 3.5, 5.1)
}

func sumOf(hist []uint64) (n uint64) {
	for _, c := range hist {
		n += c
	}
	return n
}

// A socket of IPv6 that serves both families, as most do.
func TestNameServerOfBothFamilies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.nameServer("udp", "[::]:53", oneByOne(10*time.Millisecond, bySendmsg, dnsmessage.RCodeSuccess))
	r := b.start()
	time.Sleep(noticed)
	b.ask("127.0.0.1:53", 3, 3)
	b.ask("[::1]:53", 2, 2)
	r.Stop()
	rec := b.needs(r, "sockets.dns")
	by := map[string]uint64{}
	for _, row := range rec.Turns {
		if row.Netns == b.id && row.Proto == "udp" && row.Local == "[::]:53" {
			by[row.Remote] += row.N
		}
	}
	if by["127.0.0.1"] != 3 || by["::1"] != 2 || len(by) != 2 {
		t.Errorf("by client: %v", by)
	}
}

// What forwards: its answers take as long as those of the one behind it.
func TestDnsmasq(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("dnsmasq")
	if err != nil {
		t.Skip("dnsmasq is not installed")
	}
	b := newBench(t)
	b.nameServer("udp4", "127.0.0.2:53", oneByOne(150*time.Millisecond, bySendto, dnsmessage.RCodeServerFailure))
	cmd := exec.Command(path, "--no-daemon", "--no-resolv", "--no-hosts", "--conf-file=/dev/null", "--cache-size=0", "--pid-file=",
		"--listen-address=127.0.0.1", "--bind-interfaces", "--server=127.0.0.2", "--user=root")
	b.do(cmd.Start)
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	r := b.start()
	time.Sleep(noticed)
	const asked = 6
	for range asked {
		b.ask("127.0.0.1:53", 1, 1)
	}
	r.Stop()
	front := served(b.needs(r, "sockets.dns"), b, "127.0.0.1:53")
	if front.N != asked || front.Failed != asked || front.Comm != "dnsmasq" || front.PID != cmd.Process.Pid {
		t.Errorf("%+v", front)
	}
	// The upstream answers one after the other, and dnsmasq asks it a second time before it passes an error on.
	between(t, "its answers", front.Sum/float64(max(front.N, 1)), 0.15, 0.6)
}
