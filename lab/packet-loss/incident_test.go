package packetloss

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
		fields := []string{"RetransSegs", "OutSegs"}
		before := read(t, s, a, "Tcp", fields)
		dsack := read(t, s, a, "TcpExt", []string{"TCPDSACKRecv"})[0]
		time.Sleep(5 * time.Second)
		after := read(t, s, a, "Tcp", fields)
		dsack = read(t, s, a, "TcpExt", []string{"TCPDSACKRecv"})[0] - dsack
		retrans, segs := after[0]-before[0], after[1]-before[1]
		t.Logf("%s: %d of %d segments retransmitted, %d DSACKs", v, retrans, segs, dsack)
		needed := float64(retrans) - float64(dsack)
		switch share := needed / float64(segs); {
		case segs < 1000:
			t.Errorf("%d segments in 5 s: there is hardly a stream", segs)
		case v == lab.Sick && (share < 0.005 || share > 0.05):
			t.Errorf("%.4f of the segments were lost, want about 0.02", share)
		case v != lab.Sick && share > 0.002:
			t.Errorf("%.4f of the segments were lost, want none", share)
		case v == lab.Distractor && dsack == 0:
			t.Error("no DSACK: nothing distracts")
		}
	})
}

func read(t *testing.T, s *lab.Stage, ns, proto string, fields []string) []uint64 {
	t.Helper()
	var out []uint64
	for _, f := range fields {
		n, err := s.Counter(ns, proto, f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}
