package loaded

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"snag/load"
)

func flow(sent float64, acked, returned *float64) *load.Result {
	return &load.Result{Plan: load.Plan{Bandwidth: 50e6, Target: load.Target{Name: "tcp://h:1"}},
		Flow: &load.Flow{Message: 1250, Seconds: 10, Needed: 50e6, Sent: sent, Acked: acked, Returned: returned}, Lost: map[load.Kind]int64{load.Reset: 2}}
}

func TestBandwidthText(t *testing.T) {
	t.Parallel()
	all, quarter := 49.9e6, 12.5e6
	cut := flow(0, nil, nil)
	cut.Flow = nil
	limited := flow(13e6, &quarter, nil)
	limited.Flow.ByWindow, limited.Flow.Resent = 0.81, 0.012
	for _, tt := range []struct {
		r    *load.Result
		want []string
	}{
		{flow(50e6, &all, nil), []string{"tcp://h:1: 50 Mbit/s needed, 49.9 Mbit/s acknowledged: it is available\n", "1,250 bytes × 8 × 5,000 messages/s = 50 Mbit/s", "6,237,500 bytes/s × 8 = 49.9 Mbit/s", "2: connection reset"}},
		{limited, []string{"50 Mbit/s needed, 12.5 Mbit/s available (25 %)", "the receiver's window was full for 81 %", "1.2 % of the bytes were sent again"}},
		{flow(50e6, nil, &quarter), []string{"50 Mbit/s needed, 50 Mbit/s sent, 12.5 Mbit/s came back (25 %)", "came back     1,250 bytes × 8 × 1,250 messages/s = 12.5 Mbit/s"}},
		{flow(50e6, nil, nil), []string{"50 Mbit/s sent; only the receiver knows what arrived"}},
		{cut, []string{"it ended before anything was measured"}},
	} {
		var b bytes.Buffer
		Loaded{Result: tt.r}.Text(&b)
		for _, want := range tt.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%q is missing in\n%s", want, b.String())
			}
		}
	}
}

// What is not known is null, and never zero.
func TestBandwidthJSON(t *testing.T) {
	t.Parallel()
	acked := 49.9e6
	for _, tt := range []struct {
		r    *load.Result
		want string
	}{
		{flow(50e6, &acked, nil), `{"acknowledged":49900000,"available":true,"message_bytes":1250,"needed":50000000,"returned":null,"send_buffer_full":0,"sent":50000000,"sent_again":0,"window_full":0}`},
		{flow(50e6, nil, nil), `{"acknowledged":null,"available":null,"message_bytes":1250,"needed":50000000,"returned":null,"send_buffer_full":null,"sent":50000000,"sent_again":null,"window_full":null}`},
	} {
		if got, err := json.Marshal(bandwidthJSON(tt.r)); err != nil || string(got) != tt.want {
			t.Errorf("got %s, want %s (%v)", got, tt.want, err)
		}
	}
}
