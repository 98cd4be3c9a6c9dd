package ledger

import (
	"testing"

	"snag/recording"
)

// Data that was lost, or that its own host drops, keeps a call waiting; what waits for an
// acknowledgement, or for a window, does not for that.
func TestWhatIsSentAgain(t *testing.T) {
	for name, c := range map[string]struct {
		queued int
		tcp    recording.TCPInfo
		want   bool
	}{
		"lost":                       {9000, recording.TCPInfo{Unacked: 6, Lost: 5, SndWnd: 65536}, true},
		"a timer that backs off":     {9000, recording.TCPInfo{Unacked: 1, Backoff: 2, SndWnd: 65536}, true},
		"dropped by the own host":    {9000, recording.TCPInfo{SndWnd: 65536}, true},
		"a closed window":            {9000, recording.TCPInfo{}, false},
		"on its way":                 {9000, recording.TCPInfo{Unacked: 6, SndWnd: 65536}, false},
		"all acknowledged":           {0, recording.TCPInfo{SndWnd: 65536}, false},
		"nothing known of its state": {9000, recording.TCPInfo{Unacked: 1}, false},
	} {
		if got := resends(recording.Socket{SendQ: c.queued, TCP: &c.tcp}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if resends(recording.Socket{SendQ: 1}) {
		t.Error("without tcp_info nothing is known")
	}
	p := &Party{Role: Calls, Demand: 50, Answered: 10}
	p.bookCall(way{resending: 30, rto: 0.2}, "10.0.0.1:80", 1)
	if p.Of(Loss) != 30 || p.Of(Unseen) != 19 {
		t.Errorf("booked %+v", p.Entries)
	}
}
