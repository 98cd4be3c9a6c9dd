package packetreordering

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		a := s.Name("client")
		read := func(proto, field string) float64 {
			n, err := s.Counter(a, proto, field)
			if err != nil {
				t.Fatal(err)
			}
			return float64(n)
		}
		retrans, dsack, reorder, segs := read("Tcp", "RetransSegs"), read("TcpExt", "TCPDSACKRecv"), read("TcpExt", "TCPSACKReorder"), read("Tcp", "OutSegs")
		time.Sleep(5 * time.Second)
		retrans, dsack = read("Tcp", "RetransSegs")-retrans, read("TcpExt", "TCPDSACKRecv")-dsack
		reorder, segs = read("TcpExt", "TCPSACKReorder")-reorder, read("Tcp", "OutSegs")-segs
		t.Logf("%s: %.0f of %.0f segments sent again, %.0f DSACKs, reordering seen %.0f times", v, retrans, segs, dsack, reorder)
		switch {
		case segs < 300:
			t.Errorf("%.0f segments in 5 s: there is hardly a stream", segs)
		// A packet that was overtaken for longer than a round trip is sent again before
		// the sender can know it as reordered (net/ipv4/tcp_input.c, tcp_check_sack_reordering).
		case v == lab.Sick && (retrans < 20 || dsack < 0.7*retrans):
			t.Error("want retransmissions that were reported as duplicates")
		case v == lab.Healthy && retrans > 0.005*segs:
			t.Error("want hardly any retransmission")
		case v == lab.Distractor && (retrans < 20 || dsack > 0.2*retrans):
			t.Error("want loss: retransmissions without duplicates")
		}
	})
}
