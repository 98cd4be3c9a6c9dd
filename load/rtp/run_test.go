package rtp

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"snag/load"
)

// receiver takes RTP, loses each tenth packet, and reports on it as often as it hears a report.
type receiver struct {
	media, control *net.UDPConn
	mu             sync.Mutex
	packets, bytes int
	lost           uint32
	highest        map[uint32]uint16
	markers        int
	bad            []string
}

func listen(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{highest: map[uint32]uint16{}}
	for range 50 {
		media, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		next := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: media.LocalAddr().(*net.UDPAddr).Port + 1}
		control, err := net.ListenUDP("udp", next)
		if err != nil {
			media.Close()
			continue
		}
		_ = media.SetReadBuffer(4 << 20)
		r.media, r.control = media, control
		t.Cleanup(func() { media.Close(); control.Close() })
		go r.take()
		go r.report()
		return r
	}
	t.Fatal("no two ports next to each other are free")
	return nil
}

func (r *receiver) take() {
	b := make([]byte, 2048)
	for {
		n, err := r.media.Read(b)
		if err != nil {
			return
		}
		var p rtp.Packet
		err = p.Unmarshal(b[:n])
		r.mu.Lock()
		switch {
		case err != nil || p.Version != 2 || len(p.Payload) > mostPayload:
			r.bad = append(r.bad, "not a packet of RTP, or too large")
		case p.SequenceNumber%10 == 0:
			r.lost++
		}
		if last, seen := r.highest[p.SSRC]; seen && p.SequenceNumber != last+1 {
			r.bad = append(r.bad, "a gap in the sequence numbers")
		}
		r.highest[p.SSRC] = p.SequenceNumber
		r.packets++
		r.bytes += len(p.Payload)
		if p.Marker {
			r.markers++
		}
		r.mu.Unlock()
	}
}

// report answers sender reports, and goodbyes, with what was received.
func (r *receiver) report() {
	b := make([]byte, 2048)
	for {
		n, from, err := r.control.ReadFromUDP(b)
		if err != nil {
			return
		}
		packets, err := rtcp.Unmarshal(b[:n])
		if err != nil {
			continue
		}
		sr, ok := packets[0].(*rtcp.SenderReport)
		if !ok {
			continue
		}
		came := time.Now()
		time.Sleep(20 * time.Millisecond)
		r.mu.Lock()
		highest, lost := r.highest[sr.SSRC], r.lost
		r.mu.Unlock()
		out, _ := rtcp.Marshal([]rtcp.Packet{&rtcp.ReceiverReport{SSRC: 1, Reports: []rtcp.ReceptionReport{
			{SSRC: sr.SSRC, TotalLost: lost, LastSequenceNumber: uint32(highest), Jitter: 900, LastSenderReport: uint32(sr.NTPTime >> 16), Delay: uint32(time.Since(came) * 65536 / time.Second)}, {SSRC: 4711, TotalLost: 999},
		}}})
		_, _ = r.control.WriteToUDP(out, from)
	}
}

func plan(address string, senders int) Plan {
	return Plan{Address: address, Senders: senders, Shape: Shape{Bitrate: 2e6, FPS: 25, GOP: 500 * time.Millisecond, KeySize: 4}, For: 1500 * time.Millisecond, Options: load.SocketOptions{CPU: -1}}
}

// All that is due is sent, as RTP, at the bit rate; what the receiver reports is reported.
func TestRun(t *testing.T) {
	to := listen(t)
	p := plan(to.media.LocalAddr().String(), 1)
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	want := int64(0)
	for f := range int64(38) { // at 0, 40 … 1,480 ms
		want += int64(p.Shape.packets(f))
	}
	if r.Packets+r.Unsent != want || r.Packets < want*9/10 || int64(to.packets) != r.Packets || int64(to.bytes) != r.Bytes || to.markers != int(r.Frames) || len(to.bad) > 0 {
		t.Errorf("%d packets sent and %d not, of %d; %d came with %d of %d bytes and %d ends of frames; %v", r.Packets, r.Unsent, want, to.packets, to.bytes, r.Bytes, to.markers, to.bad)
	}
	if len(r.Refused) > 0 || r.PacketLag.TotalCount() != r.Packets || r.FrameLag.TotalCount() != r.Frames {
		t.Errorf("refused %v, %d times of packets", r.Refused, r.PacketLag.TotalCount())
	}
	h := r.Reports
	if h == nil || h.N < 2 || h.Senders != 1 || h.Lost != int64(to.lost) || h.Of != r.Packets {
		t.Fatalf("reports %+v, want %d lost of %d", h, to.lost, r.Packets)
	}
	if jitter := time.Duration(h.Jitter.ValueAtQuantile(50)); jitter < 9900*time.Microsecond || jitter > 10100*time.Microsecond {
		t.Errorf("jitter %v, want 900 ticks of 90 kHz", jitter)
	}
	if trip := time.Duration(h.RoundTrip.ValueAtQuantile(50)); h.RoundTrip.TotalCount() == 0 || trip > 15*time.Millisecond {
		t.Errorf("the reports took %v there and back, without the receiver's 20 ms", trip)
	}
}

// A burst goes out at once; paced, it takes most of the frame's interval.
func TestPace(t *testing.T) {
	to := listen(t)
	for _, pace := range []bool{false, true} {
		p := plan(to.media.LocalAddr().String(), 2)
		p.Shape.Bitrate, p.Shape.Pace, p.For = 4e6, pace, 600*time.Millisecond
		r, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Duration(r.Burst.ValueAtQuantile(50)); (took > 20*time.Millisecond) != pace {
			t.Errorf("paced %v: half of the frames within %v", pace, took)
		}
	}
}

// Where nothing listens, the ICMP errors are counted by kind, and are no packets that were sent.
func TestRefused(t *testing.T) {
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.LocalAddr().String()
	l.Close()
	p := plan(address, 1)
	p.For = 500 * time.Millisecond
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for kind, m := range r.Refused {
		if n += m; !strings.HasPrefix(kind, "ECONNREFUSED: nothing listens") {
			t.Errorf("%d: %s", m, kind)
		}
	}
	if n < 5 || r.Packets >= r.PacketLag.TotalCount() || r.Reports != nil {
		t.Errorf("refused %v; %d packets taken of %d", r.Refused, r.Packets, r.PacketLag.TotalCount())
	}
}

func TestHonest(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*Result)
		want string
	}{
		"sent in time":     {func(r *Result) { note(r.FrameLag, time.Millisecond); note(r.PacketLag, time.Millisecond) }, ""},
		"late":             {func(r *Result) { note(r.FrameLag, 5*time.Millisecond) }, "half of the frames were sent 5 ms late"},
		"did not keep up":  {func(r *Result) { note(r.FrameLag, 0); note(r.PacketLag, 0); r.Unsent = 1 }, "1 of 2 packets were due and not sent"},
		"nothing was sent": {func(*Result) {}, "no frame was sent"},
	} {
		r := newResult(plan("127.0.0.1:5004", 1))
		c.set(r)
		if got := r.Honest(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestBadPlans(t *testing.T) {
	for text, want := range map[string]string{"rtp+udp://127.0.0.1": "is not a target of RTP", "rtp+udp://127.0.0.1:5004/x": "is not a target", "rtp+udp://127.0.0.1:65535": "the next one is for RTCP"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if a, err := Parse("rtp+udp://[::1]:5004"); err != nil || a != "[::1]:5004" {
		t.Errorf("%s, %v", a, err)
	}
	for want, change := range map[string]func(*Plan){
		"0 senders":                        func(p *Plan) { p.Senders = 0 },
		"a bit rate of 0":                  func(p *Plan) { p.Shape.Bitrate = 0 },
		"0 frames":                         func(p *Plan) { p.Shape.FPS = 0 },
		"key frames every -1s":             func(p *Plan) { p.Shape.GOP = -time.Second },
		"a key frame of 0.5 times":         func(p *Plan) { p.Shape.KeySize = 0.5 },
		"a key frame of 12500000000 bytes": func(p *Plan) { p.Shape.Bitrate, p.Shape.FPS, p.Shape.GOP = 1e11, 1, 0 },
		"longer than 0 s":                  func(p *Plan) { p.For = 0 },
	} {
		p := plan("127.0.0.1:5004", 1)
		change(&p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Whatever comes back on a sender's port, it is a report or it is nothing.
func FuzzReports(f *testing.F) {
	b, err := rtcp.Marshal([]rtcp.Packet{&rtcp.ReceiverReport{SSRC: 1, Reports: []rtcp.ReceptionReport{{SSRC: 7, TotalLost: 1<<24 - 1, LastSequenceNumber: 9, Jitter: 1 << 31, LastSenderReport: 1}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{0x81, 200, 0, 6})
	f.Fuzz(func(t *testing.T, b []byte) {
		var r reports
		r.take(b, 7, time.Unix(1_700_000_000, 0))
		if r.n > int64(len(b)) || r.lost < -1<<23 || r.lost >= 1<<23 {
			t.Fatalf("%+v", r)
		}
		for _, d := range append(r.jitter, r.trips...) {
			if d < 0 {
				t.Fatalf("%+v", r)
			}
		}
	})
}
