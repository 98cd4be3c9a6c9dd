package recording

import "testing"

func TestAsked(t *testing.T) {
	for name, c := range map[string]struct {
		tcp          TCPInfo
		accepted     bool
		answered, ok bool
	}{
		"a server owes an answer":          {TCPInfo{LastSnd: 2, LastRcv: 1.5, BytesSent: 9, BytesReceived: 9}, true, true, true},
		"a server has answered":            {TCPInfo{LastSnd: 1.5, LastRcv: 2, BytesSent: 9, BytesReceived: 9}, true, true, false},
		"a caller waits":                   {TCPInfo{LastSnd: 1.5, LastRcv: 2, BytesSent: 9, BytesReceived: 9}, false, true, true},
		"its first request, or a log":      {TCPInfo{LastSnd: 1.5, LastRcv: 1.5, BytesSent: 9}, false, false, true},
		"nothing was asked":                {TCPInfo{LastSnd: 1.5, LastRcv: 2, BytesReceived: 9}, false, false, false},
		"too old, as a long poll would be": {TCPInfo{LastSnd: 80, LastRcv: 90, BytesSent: 9, BytesReceived: 9}, false, false, false},
	} {
		if _, answered, ok := c.tcp.Asked(c.accepted); answered != c.answered || ok != c.ok {
			t.Errorf("%s: answered %v, ok %v", name, answered, ok)
		}
	}
}
