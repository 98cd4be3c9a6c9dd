package capture

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"snag/internal/packet"
)

// What goes over the loopback interface to or from the ports is taken once, by IPv4
// and IPv6, at the time when it went.
func TestRing(t *testing.T) {
	to4, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer to4.Close()
	port := uint16(to4.LocalAddr().(*net.UDPAddr).Port)
	ports := []uint16{port}
	to6, err := net.ListenPacket("udp6", "[::1]:0")
	if err == nil {
		defer to6.Close()
		ports = append(ports, uint16(to6.LocalAddr().(*net.UDPAddr).Port))
	}
	other, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	ring, err := Open(Options{Ports: ports})
	if err != nil {
		noCapture(t, err)
	}
	defer ring.Close()
	got := map[string]int{}
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	began := now(1)
	go func() {
		for range 3 {
			for _, to := range []net.PacketConn{to4, to6, other} {
				if to == nil {
					continue
				}
				if c, err := net.Dial("udp", to.LocalAddr().String()); err == nil {
					_, _ = c.Write([]byte("to " + to.LocalAddr().Network() + " " + to.LocalAddr().String()))
					c.Close()
				}
			}
		}
	}()
	err = ring.Run(ctx, func(c *Packet) {
		var p packet.Packet
		if !packet.Decode(c.Proto, c.Data, c.Wire, &p) {
			t.Errorf("a packet was taken that can't be read: %x", c.Data)
			return
		}
		if c.At < began || c.At > now(1) {
			t.Errorf("time %d, between %d and %d", c.At, began, now(1))
		}
		got[string(p.Payload)]++
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"to udp " + to4.LocalAddr().String(): 3}
	if to6 != nil {
		want["to udp "+to6.LocalAddr().String()] = 3
	}
	for k, n := range want {
		if got[k] != n {
			t.Errorf("%q was taken %d times of %d", k, got[k], n)
		}
	}
	if len(got) != len(want) || ring.Stats().Packets < 3 {
		t.Errorf("got %v, stats %+v", got, ring.Stats())
	}
}

func TestRefusals(t *testing.T) {
	if _, err := Open(Options{Ports: make([]uint16, MaxPorts+1)}); err == nil {
		t.Error("too many ports are taken")
	}
	if _, err := Open(Options{Iface: "none-such0"}); err == nil {
		t.Error("an interface that is not there is captured on")
	}
	for n := range MaxPorts + 1 {
		if prog, err := Filter(make([]uint16, n), n%2 == 0); err != nil || len(prog) == 0 {
			t.Errorf("%d ports: %v", n, err)
		}
	}
}

// files are a pcap and a pcapng of three packets.
func files(t testing.TB) (pcap, ng []byte) {
	t.Helper()
	var a, b bytes.Buffer
	w := pcapgo.NewWriterNanos(&a)
	if err := w.WriteFileHeader(65535, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	n, err := pcapgo.NewNgWriter(&b, layers.LinkTypeEthernet)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		data := append(make([]byte, 12), 8, 0, 0x45, byte(i), 0, 20)
		ci := gopacket.CaptureInfo{Timestamp: time.Unix(1700000000, int64(i)), CaptureLength: len(data), Length: 1000}
		if err := errors.Join(w.WritePacket(ci, data), n.WritePacket(ci, data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Flush(); err != nil {
		t.Fatal(err)
	}
	return a.Bytes(), b.Bytes()
}

func TestFiles(t *testing.T) {
	pcap, ng := files(t)
	for name, b := range map[string][]byte{"pcap": pcap, "pcapng": ng} {
		var got []Packet
		take := func(p *Packet) { got = append(got, *p) }
		if err := Read(name, bytes.NewReader(b), take); err != nil || len(got) != 3 {
			t.Fatalf("%s: %d packets, %v", name, len(got), err)
		}
		for i, p := range got {
			if p.At != 1700000000e9+int64(i) || p.Proto != packet.EtherIPv4 || p.Wire != 986 || len(p.Data) != 4 {
				t.Errorf("%s: packet %d: %+v", name, i, p)
			}
		}
		var torn *TornError
		for cut := 1; cut < 20; cut++ {
			got = nil
			if err := Read(name, bytes.NewReader(b[:len(b)-cut]), take); !errors.As(err, &torn) || torn.Packets != 2 || len(got) != 2 {
				t.Errorf("%s without its last %d bytes: %d packets, %v", name, cut, len(got), err)
			}
		}
		if err := Read(name, bytes.NewReader(b[:10]), take); err == nil || errors.As(err, &torn) {
			t.Errorf("%s: 10 bytes of it: %v", name, err)
		}
	}
	if err := ReadFile("/none/such", nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := Read("text", bytes.NewReader([]byte("this is not a capture at all")), nil); err == nil {
		t.Error("a text is read")
	}
}

func FuzzRead(f *testing.F) {
	pcap, ng := files(f)
	f.Add(pcap)
	f.Add(ng)
	f.Fuzz(func(_ *testing.T, b []byte) {
		_ = Read("fuzz", bytes.NewReader(b), func(p *Packet) {
			var q packet.Packet
			packet.Decode(p.Proto, p.Data, p.Wire, &q)
		})
	})
}

// noCapture ends a test for which nothing could be captured: only who may not
// (CAP_NET_RAW) skips it.
func noCapture(t *testing.T, err error) {
	t.Helper()
	if os.Getuid() == 0 {
		t.Fatal(err)
	}
	t.Skip("capturing needs root: ", err)
}
