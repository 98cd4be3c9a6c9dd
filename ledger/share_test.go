package ledger

import (
	"math"
	"testing"

	"snag/recording"
)

// What a pool's line waits for is no worker's, and a party of which little was seen tells nothing.
func TestShare(t *testing.T) {
	party := func(unread float64) *Party {
		return &Party{Role: Serves, Subject: recording.Subject{PID: 7}, PIDs: []int{7}, Answered: 50, Demand: 10, Entries: []Entry{
			{Account: Sleep, Seconds: 4, InLine: 3}, {Account: Call, Seconds: 2, InLine: 2, pool: 2}, {Account: CPU, Seconds: 1, InLine: 1}, {Account: Unread, Seconds: unread}}}
	}
	l := &Ledger{Parties: []*Party{party(3)}}
	if got, ok := l.Share(7, Sleep); !ok || math.Abs(got-0.4) > 1e-9 {
		t.Errorf("sleep: %v %v", got, ok)
	}
	if got := l.InLine(7, Sleep, Call); math.Abs(got-0.3) > 1e-9 {
		t.Errorf("in line: %v", got)
	}
	if _, ok := l.Share(8, Sleep); ok {
		t.Error("a process that serves nobody has a share")
	}
	l = &Ledger{Parties: []*Party{party(6)}}
	if _, ok := l.Share(7, Sleep); ok {
		t.Error("most of the time was unread data, and a share is reported")
	}
}
