package logs

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"testing"
	"time"

	"snag/readers/reader"
)

func TestEndsInALine(t *testing.T) {
	for line, want := range map[string]string{
		"connecting from 10.0.0.7:51234 to 10.0.0.9:1935":                  "[10.0.0.7:51234]",
		"read tcp 10.0.0.9:1935->10.0.0.7:51234: connection reset by peer": "[10.0.0.7:51234]",
		"[conn [2001:db8::7]:40001] opened":                                "[[2001:db8::7]:40001]",
		"from [::ffff:10.0.0.7]:51234":                                     "[10.0.0.7:51234]",
		"at 12:51234, 1.2.3.4:512345, 127.0.0.1:51234, 1.2.3.4:5123":       "[]",
		"10.0.0.7:51234 10.0.0.8:51235":                                    "[10.0.0.7:51234 10.0.0.8:51235]",
		":51234":                                                           "[]", "1.2.3.4:": "[]", "]:51234": "[]", "10.0.0.7:51234": "[10.0.0.7:51234]",
	} {
		var found [4]netip.AddrPort
		n := endsIn([]byte(line), found[:])
		if got := fmt.Sprint(found[:n]); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func endsOf(t *testing.T, text string) Ends {
	t.Helper()
	x, err := ReadEnds(context.Background(), reader.Bytes("x.log", []byte(text)), reader.Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// The encoder's log and the server's, whose clock is 3 s ahead.
const (
	encoderLog = `2026-11-21T10:00:00.100Z info connecting from 10.0.0.7:51234 to rtmp://10.0.0.9/live
2026-11-21T10:00:00.240Z info 10.0.0.7:51234: publish started
2026-11-21T10:09:00.700Z warn 10.0.0.7:51234: closed by the server
2026-11-21T10:09:05.000Z info connecting from 10.0.0.7:51240 to rtmp://10.0.0.9/live
`
	serverLog = `2026-11-21T10:00:03.150Z [conn 10.0.0.7:51234] opened
2026-11-21T10:00:03.180Z [conn 10.0.0.7:51234] publish accepted: live/x
2026-11-21T10:09:03.650Z [conn 10.0.0.7:51234] closing: no frames for 10 s
2026-11-21T10:09:08.040Z [conn 10.0.0.7:51240] opened
`
)

func TestLogsOfBothEndsBoundTheClocks(t *testing.T) {
	a, b := endsOf(t, encoderLog), endsOf(t, serverLog)
	low, high, n := a.Tie(b)
	// 08.040 − 05.000 bounds it from above, 03.650 − 00.700 from below (closer than 03.180
	// − 00.240 does), with a grain of 1 ms each.
	if n != 2 || math.Abs(low-2.949) > 1e-6 || math.Abs(high-3.041) > 1e-6 {
		t.Errorf("%v to %v by %d", low, high, n)
	}
	if l, h, m := b.Tie(a); m != n || math.Abs(l+high) > 1e-9 || math.Abs(h+low) > 1e-9 {
		t.Errorf("the other way round: %v to %v by %d", l, h, m)
	}
	if _, _, n := a.Tie(endsOf(t, "2026-11-21T10:00:03.150Z [conn 10.0.0.7:51299] opened\n")); n != 0 {
		t.Errorf("logs without a connection in common: %d", n)
	}
	// The server's log names its connections and ends none: one bound alone.
	low, high, n = a.Tie(endsOf(t, "2026-11-21T10:00:03.150Z [conn 10.0.0.7:51234] opened\n"))
	if n != 1 || !math.IsInf(low, -1) || math.Abs(high-3.051) > 1e-6 {
		t.Errorf("one side: %v to %v by %d", low, high, n)
	}
}

// Times in whole seconds may be a second later than they say; a port that was used twice
// tells nothing.
func TestEndsOfCoarseLogs(t *testing.T) {
	a := endsOf(t, "2026-11-21T10:00:00Z connecting from 10.0.0.7:51234 to x\n2026-11-21T10:00:09Z connecting from 10.0.0.7:51234 to x\n2026-11-21T10:00:10Z connecting from 10.0.0.7:51235 to x\n")
	b := endsOf(t, "2026-11-21T10:00:01Z accepted 10.0.0.7:51234\n2026-11-21T10:00:15Z accepted 10.0.0.7:51235\n")
	if _, high, n := a.Tie(b); n != 1 || math.Abs(high-6) > 1e-6 {
		t.Errorf("at most %v by %d", high, n)
	}
}

func FuzzEnds(f *testing.F) {
	f.Add([]byte(encoderLog))
	f.Add([]byte(serverLog))
	f.Add([]byte("2026-11-21T10:00:00Z [:51234 ]:51234 [[::]:51234\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		in := reader.Bytes("x.log", b)
		x, err := ReadEnds(context.Background(), in, reader.Options{Zone: time.UTC})
		if err != nil {
			t.Fatal(err)
		}
		if low, high, _ := x.Tie(x); math.IsNaN(low) || math.IsNaN(high) || len(x.of) > mostEnds {
			t.Fatal(low, high)
		}
	})
}
