package recorder

import (
	"strings"
	"testing"
	"time"

	"snag/recording"
)

// play gives a trigger a party's seconds, and tells what it said first, and when, s.
func play(seconds int, row func(i int) recording.Turns) (why string, when int) {
	w := newTrigger()
	for i := range seconds {
		v := row(i)
		v.T, v.Role, v.Local, v.Comm = second(i), "serve", "0.0.0.0:80", "nginx"
		w.Take(v)
		if why := w.Tick(second(i + 1)); why != "" {
			return why, i
		}
	}
	return "", seconds
}

func TestTrigger(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		row  func(i int) recording.Turns
		says string
		from int // s
	}{
		{"all is as usual", func(i int) recording.Turns { return recording.Turns{N: 100, Sum: 1 + float64(i%7)/10} }, "", 0},
		{"idle", func(int) recording.Turns { return recording.Turns{} }, "", 0},
		{"slow at night as at noon", func(i int) recording.Turns {
			return recording.Turns{N: uint64(1 + 99*(i/60%2)), Sum: float64(1+99*(i/60%2)) * 0.25}
		}, "", 0},
		{"one slow second", func(i int) recording.Turns {
			if i == 100 {
				return recording.Turns{N: 100, Sum: 50}
			}
			return recording.Turns{N: 100, Sum: 1}
		}, "", 0},
		{"slower from a time on", func(i int) recording.Turns {
			if i >= 100 {
				return recording.Turns{N: 100, Sum: 20}
			}
			return recording.Turns{N: 100, Sum: 1}
		}, "times as long as usual", 100},
		{"pauses of a second in each 2.5 s", func(i int) recording.Turns {
			if i >= 100 && i%5%2 == 0 && i%5 < 4 { // two seconds of five
				return recording.Turns{N: 100, Sum: 50}
			}
			return recording.Turns{N: 100, Sum: 1}
		}, "times as long as usual", 100},
		{"answers stop", func(i int) recording.Turns {
			if i >= 100 {
				return recording.Turns{Open: 3, Oldest: float64(i - 100)}
			}
			return recording.Turns{N: 100, Sum: 1}
		}, "without an answer", 100},
		{"long polls are as usual", func(i int) recording.Turns { return recording.Turns{N: 1, Sum: 20, Open: 30, Oldest: 25} }, "", 0},
		{"errors", func(i int) recording.Turns {
			if i >= 50 {
				return recording.Turns{N: 10, Failed: 9, Sum: 0.1}
			}
			return recording.Turns{N: 10, Sum: 0.1}
		}, "are errors", 50},
		{"a service that always answers some requests with errors", func(i int) recording.Turns { return recording.Turns{N: 100, Failed: 18, Sum: 1} }, "", 0},
		{"connections that end without an answer", func(i int) recording.Turns {
			if i >= 50 {
				return recording.Turns{N: 10, Cut: 3, Sum: 0.1}
			}
			return recording.Turns{N: 10, Sum: 0.1}
		}, "no answer when their connection ended", 50},
	}
	for _, tt := range tests {
		why, when := play(400, tt.row)
		if tt.says == "" && why != "" || !strings.Contains(why, tt.says) {
			t.Errorf("%s: after %d s it says %q", tt.name, when, why)
		}
		if tt.says != "" && (when < tt.from || when > tt.from+8) {
			t.Errorf("%s: it says so after %d s, not %d", tt.name, when, tt.from)
		}
	}
}

func TestTriggerOfWhatHappens(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		row  recording.Row
		says string
	}{
		{recording.Event{Kind: recording.EventThrottled, Subject: recording.Subject{Name: "encoder.service"}}, "encoder.service"},
		{recording.Event{T: second(1), End: second(1).Add(5 * time.Millisecond), Kind: recording.EventGCPause, Subject: recording.Subject{Comm: "java"}}, ""},
		{recording.Event{T: second(1), End: second(1).Add(80 * time.Millisecond), Kind: recording.EventGCPause, Subject: recording.Subject{Comm: "java"}}, "gc-pause of java"},
		{recording.Exit{Comm: "redis", Signal: "SIGKILL"}, "redis"},
		{recording.Exit{Comm: "sh", Status: 1}, ""},
		{recording.CallError{Comm: "app", Call: "connect", Errno: "ECONNREFUSED", N: 60}, "ECONNREFUSED of app"},
		{recording.CallError{Comm: "app", Call: "connect", Errno: "ECONNREFUSED", N: 3}, ""},
		{recording.CallError{Comm: "app", Call: "recv", Errno: "EAGAIN", N: 1e6}, ""},
		{recording.Drop{Comm: "app", PID: 1, N: 500}, "dropped of app"},
		{recording.Drop{Comm: "app", PID: 1, N: 500, Benign: true}, ""},
		// Kernels before 6.11 name no socket, those before 5.17 no reason.
		{recording.Drop{Reason: "SOCKET_RCVBUFF", Place: "udp_queue_rcv_one_skb", Proto: "udp", Dst: "127.0.0.1:5004", N: 60}, "at the receive buffer of udp 127.0.0.1:5004"},
		{recording.Drop{Reason: "SOCKET_RCVBUFF", Proto: "udp", N: 49}, ""},
		{recording.Drop{Reason: "SOCKET_RCVBUFF", Proto: "udp", N: 60, Benign: true}, ""},
		{recording.Drop{Place: "udpv6_queue_rcv_one_skb.isra.0", Proto: "udp", N: 60}, "at the receive buffer of udp"},
		{recording.Drop{Reason: "NETFILTER_DROP", Place: "nf_hook_slow", Proto: "udp", N: 500}, ""},
		{recording.Drop{Place: "nf_hook_slow", Proto: "udp", N: 500}, ""},
	} {
		w := newTrigger()
		w.Take(tt.row)
		if why := w.Tick(second(1)); tt.says == "" && why != "" || !strings.Contains(why, tt.says) {
			t.Errorf("%+v: %q", tt.row, why)
		}
		if why := w.Tick(second(2)); why != "" {
			t.Errorf("it says so again: %q", why)
		}
	}
}

// Nobody's memory grows by parties that come and go.
func TestTriggerForgets(t *testing.T) {
	t.Parallel()
	w := newTrigger()
	for i := range 3 * mostParties {
		w.Take(recording.Turns{T: second(0), Role: "call", Remote: time.Duration(i).String(), N: 1})
	}
	if len(w.parties) != mostParties {
		t.Errorf("%d parties", len(w.parties))
	}
	w.Tick(second(2 * forgetParty))
	if len(w.parties) != 0 {
		t.Errorf("%d parties are left", len(w.parties))
	}
}

// What is sent again is noticed where it is far more than usual for some seconds.
func TestSegmentsThatAreSentAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		n    func(i int) uint64
		from int // s; 0: it says nothing
	}{
		"a way that always loses": {func(int) uint64 { return 20 }, 0},
		"one burst":               {func(i int) uint64 { return map[bool]uint64{true: 300}[i == 100] }, 0},
		"a few":                   {func(i int) uint64 { return uint64(i % 2) }, 0},
		"loss from a time on":     {func(i int) uint64 { return map[bool]uint64{true: 7}[i >= 100] }, 100},
		"more than always":        {func(i int) uint64 { return map[bool]uint64{true: 40, false: 2}[i >= 100] }, 100},
	} {
		w := newTrigger()
		said := 0
		for i := 0; i < 300 && said == 0; i++ {
			if n := c.n(i); n > 0 {
				w.Take(recording.Retransmit{T: second(i), N: n})
			}
			if why := w.Tick(second(i + 1)); strings.Contains(why, "sent again") {
				said = i
			}
		}
		if said != 0 != (c.from != 0) || c.from != 0 && (said < c.from || said > c.from+8) {
			t.Errorf("%s: it says so after %d s, not %d", name, said, c.from)
		}
	}
}
