package rtp

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// GStreamer's receiver reports what it got. Its reports go to a fixed port, from where the test hands them on to the
// sender, and the sender's to it.
func TestLiveGStreamerReports(t *testing.T) {
	udp := func(port int) *net.UDPConn {
		c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	port := func(c *net.UDPConn) int { return c.LocalAddr().(*net.UDPAddr).Port }
	var media int
	var control *net.UDPConn
	for control == nil { // two ports next to each other
		first := udp(0)
		media = port(first)
		if next, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: media + 1}); err == nil {
			control = next
		}
		first.Close()
	}
	defer control.Close()
	back, theirs := udp(0), udp(0)
	defer back.Close()
	in := port(theirs)
	theirs.Close()
	line := fmt.Sprintf("rtpsession name=b udpsrc port=%d address=127.0.0.1 caps=application/x-rtp,media=video,clock-rate=90000,encoding-name=H264,payload=96 ! b.recv_rtp_sink b.recv_rtp_src ! fakesink sync=false "+
		"udpsrc port=%d address=127.0.0.1 ! b.recv_rtcp_sink b.send_rtcp_src ! udpsink host=127.0.0.1 port=%d sync=false async=false", media, in, port(back))
	var said strings.Builder
	cmd := exec.Command("gst-launch-1.0", append([]string{"-q"}, strings.Fields(line)...)...)
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	sender := make(chan *net.UDPAddr, 1)
	go func() {
		for b := make([]byte, 2048); ; {
			n, from, err := control.ReadFromUDP(b)
			if err != nil {
				return
			}
			select {
			case sender <- from:
			default:
			}
			_, _ = control.WriteToUDP(b[:n], &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: in})
		}
	}()
	go func() {
		var to *net.UDPAddr
		for b := make([]byte, 2048); ; {
			n, err := back.Read(b)
			if err != nil {
				return
			}
			if to == nil {
				to = <-sender
			}
			_, _ = control.WriteToUDP(b[:n], to)
		}
	}()
	address := fmt.Sprintf("127.0.0.1:%d", media)
	for range 250 { // until it has the port
		l, err := net.ListenPacket("udp", address)
		if err != nil {
			break
		}
		l.Close()
		time.Sleep(20 * time.Millisecond)
	}
	p := plan(address, 1)
	p.For = 8 * time.Second // it reports every few seconds
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	h := r.Reports
	if h == nil || h.N < 1 || h.Senders != 1 || h.Of < r.Packets/4 || h.Of > r.Packets || h.Lost > r.Packets/20 || h.Jitter.Max() > time.Second.Nanoseconds() || h.RoundTrip.TotalCount() == 0 || h.RoundTrip.Max() > time.Second.Nanoseconds() {
		t.Fatalf("%+v of %d packets, refused %v; GStreamer said %s", h, r.Packets, r.Refused, said.String())
	}
	t.Logf("%d reports: %d of %d lost, jitter %v, round trip %v", h.N, h.Lost, h.Of, time.Duration(h.Jitter.Max()), time.Duration(h.RoundTrip.Max()))
}
