package pcap

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"snag/internal/conversation"
	"snag/internal/packet"
	capture "snag/internal/pcap"
)

func conversationOf(t *testing.T, w *wire, stream int) (conversation.Conversation, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.pcap")
	if err := os.WriteFile(path, w.b, 0o600); err != nil {
		t.Fatal(err)
	}
	return Conversation(context.Background(), path, stream)
}

func TestConversation(t *testing.T) {
	w := newWire()
	a, aServer := connection(w, "10.0.0.1:40000", "10.0.0.2:9000")
	b, bServer := connection(w, "10.0.0.1:40001", "10.0.0.2:9000")
	a.open(1)
	b.open(1)
	w.ms(10)
	// One write of 3,000 bytes in three segments, of which one is sent again, then one of 80; the answer.
	b.segment(packet.ACK, b.seq, b.ack, 1400)
	b.segment(packet.ACK, b.seq+1400, b.ack, 1400)
	b.segment(packet.ACK, b.seq, b.ack, 1400)
	b.segment(packet.ACK|packet.PSH, b.seq+2800, b.ack, 200)
	b.seq += 3000
	b.send(80)
	a.send(7) // the other connection's
	w.ms(40)
	bServer.send(10)
	w.ms(60)
	b.send(500)
	w.ms(5)
	bServer.send(2000)
	// The same ports again are another connection.
	again, againServer := connection(w, "10.0.0.1:40001", "10.0.0.2:9000")
	again.seq = 777_000
	w.ms(5)
	again.open(1)
	again.send(33)
	w.ms(1)
	againServer.send(1)
	aServer.send(1)

	c, err := conversationOf(t, w, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []conversation.Message{{Writes: []int{3000, 80}, Answer: 10}, {At: 100 * time.Millisecond, Writes: []int{500}, Answer: 2000}}
	if got := c.Messages(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if !strings.HasPrefix(c.From, "c.pcap, TCP connection 1, 10.0.0.1:40001 to 10.0.0.2:9000, packets 4 to ") || !c.Timed || !strings.Contains(strings.Join(c.Lacks, "; "), "socket options and timeouts") {
		t.Errorf("%s; %q; timed %v", c.From, c.Lacks, c.Timed)
	}
	if c, err = conversationOf(t, w, 2); err != nil || !reflect.DeepEqual(c.Messages(), []conversation.Message{{Writes: []int{33}, Answer: 1}}) {
		t.Errorf("the third: %+v, %v", c.Messages(), err)
	}
	if _, err = conversationOf(t, w, 3); err == nil || !strings.Contains(err.Error(), "it has no TCP connection 3: they are 0 to 2 (tcp.stream of Wireshark)") {
		t.Error(err)
	}
}

// A capture that began in the middle: whose port is ephemeral is the client.
func TestConversationFromTheMiddle(t *testing.T) {
	w := newWire()
	c, s := connection(w, "10.0.0.1:40000", "10.0.0.2:9000")
	s.send(5)
	w.ms(1)
	c.send(20)
	w.ms(1)
	s.send(6)
	got, err := conversationOf(t, w, 0)
	if err != nil || !reflect.DeepEqual(got.Messages(), []conversation.Message{{Writes: []int{20}, Answer: 6}}) {
		t.Errorf("%+v, %v", got.Messages(), err)
	}
}

// Whatever a capture holds, nothing panics, and no message has fewer than one byte.
func FuzzConversation(f *testing.F) {
	w := newWire()
	c, s := connection(w, "10.0.0.1:40000", "10.0.0.2:9000")
	c.open(1)
	c.send(100)
	s.send(10)
	f.Add(w.b)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := capture.New(bytes.NewReader(b))
		if err != nil {
			return
		}
		k := newFollower(0)
		var frame capture.Frame
		var p packet.Packet
		for n := 1; r.Next(&frame) == nil; n++ {
			proto, rest, head, ok := frame.Link.Network(frame.Data)
			if ok && packet.DecodeInner(proto, rest, frame.Wire-head, &p) && p.Proto == packet.TCP {
				k.take(&p, frame.At, n)
			}
		}
		got, err := k.result("c.pcap")
		if err != nil {
			return
		}
		for _, m := range got.Messages() {
			for _, n := range m.Writes {
				if n < 1 || m.Answer < 0 {
					t.Fatalf("%+v", m)
				}
			}
		}
	})
}

// Real captures of a client that sends 40 and 120 bytes: where the second write waits for the acknowledgement of the
// first, the two are one message all the same, and TCP_NODELAY is off.
func TestConversationOfARealCapture(t *testing.T) {
	for file, nagle := range map[string]bool{"nagle-delayed-ack-sick": true, "nagle-delayed-ack-healthy": false} {
		c, err := Conversation(context.Background(), "testdata/"+file+".pcap.zst", 0)
		if err != nil {
			t.Fatal(err)
		}
		m, two := c.Messages(), 0
		for _, one := range m {
			if reflect.DeepEqual(one.Writes, []int{40, 120}) && one.Answer == 60 {
				two++
			}
		}
		if two < len(m)*9/10 || len(m) < 100 {
			t.Errorf("%s: %d of %d messages are of two writes: %+v", file, two, len(m), m[:5])
		}
		if off := c.NoDelay != nil && !*c.NoDelay; off != nagle {
			t.Errorf("%s: %q", file, c.Set)
		}
	}
}
