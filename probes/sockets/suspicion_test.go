package sockets

import (
	"strings"
	"testing"

	"snag/recording"
)

func TestSuspicion(t *testing.T) {
	tcp := func(s recording.Socket) recording.Socket {
		s.Proto, s.Local, s.Remote = "tcp", "10.0.0.1:80", "10.0.0.2:5"
		if s.State == "" {
			s.State = "ESTABLISHED"
		}
		if s.TCP == nil {
			s.TCP = &recording.TCPInfo{}
		}
		return s
	}
	info := func(i recording.TCPInfo) recording.Socket { return tcp(recording.Socket{TCP: &i, SendQ: 5}) }
	udp := func(s recording.Socket) recording.Socket { s.Proto, s.State = "udp", "UNCONN"; return s }
	listen := func(q, most int) recording.Socket {
		return recording.Socket{Proto: "tcp", State: "LISTEN", RecvQ: q, SendQ: most}
	}
	for _, c := range []struct {
		name string
		seq  []recording.Socket // observations, one after the other
		want priority
		why  string
	}{
		{"idle", []recording.Socket{tcp(recording.Socket{}), tcp(recording.Socket{})}, quiet, ""},
		{"bytes wait once", []recording.Socket{tcp(recording.Socket{}), tcp(recording.Socket{RecvQ: 9})}, odd, ""},
		{"nobody reads", []recording.Socket{tcp(recording.Socket{RecvQ: 9}), tcp(recording.Socket{RecvQ: 9})}, suspect, "9 bytes wait to be read"},
		{"busy sender that gets on", []recording.Socket{info(recording.TCPInfo{BytesAcked: 1}), info(recording.TCPInfo{BytesAcked: 2}), info(recording.TCPInfo{BytesAcked: 3})}, odd, ""},
		{"sender that is stuck", []recording.Socket{info(recording.TCPInfo{BytesAcked: 2}), info(recording.TCPInfo{BytesAcked: 2})}, suspect, "none was acknowledged"},
		{"shut window", []recording.Socket{tcp(recording.Socket{Timer: "persist"})}, suspect, "window is shut"},
		{"back-off", []recording.Socket{tcp(recording.Socket{TCP: &recording.TCPInfo{Backoff: 2}})}, suspect, "back off"},
		{"window limits", []recording.Socket{tcp(recording.Socket{}), tcp(recording.Socket{TCP: &recording.TCPInfo{RwndLimited: 0.4}})}, suspect, "peer's window"},
		{"was limited often", []recording.Socket{tcp(recording.Socket{TCP: &recording.TCPInfo{RwndLimited: 9, Busy: 20}})}, suspect, "often waited for the peer's window"},
		{"was limited once, of a long life", []recording.Socket{tcp(recording.Socket{TCP: &recording.TCPInfo{RwndLimited: 9, Busy: 200}})}, quiet, ""},
		{"was limited for a moment", []recording.Socket{tcp(recording.Socket{TCP: &recording.TCPInfo{RwndLimited: 0.9, Busy: 1}})}, quiet, ""},
		{"one retransmit", []recording.Socket{tcp(recording.Socket{}), tcp(recording.Socket{TCP: &recording.TCPInfo{TotalRetrans: 1}})}, odd, ""},
		{"close wait", []recording.Socket{tcp(recording.Socket{State: "CLOSE_WAIT"}), tcp(recording.Socket{State: "CLOSE_WAIT"}), tcp(recording.Socket{State: "CLOSE_WAIT"})}, suspect, "nobody closes"},
		{"listener", []recording.Socket{listen(0, 5)}, wanted, ""},
		{"accepts slowly", []recording.Socket{listen(1, 5), listen(2, 5)}, suspect, "wait to be accepted"},
		{"full", []recording.Socket{listen(6, 5)}, suspect, "6 of 5"},
		{"old drops", []recording.Socket{udp(recording.Socket{Drops: 9})}, odd, ""},
		{"drops", []recording.Socket{udp(recording.Socket{Drops: 9}), udp(recording.Socket{Drops: 12})}, suspect, "3 datagrams dropped"},
		{"buffer fills", []recording.Socket{udp(recording.Socket{Rmem: 60, RcvBuf: 100})}, suspect, "half full"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &history{}
			var got priority
			var why string
			for i := range c.seq {
				got, why = h.observe(&c.seq[i], i == 0)
				h.last = c.seq[i]
			}
			if got != c.want || !strings.Contains(why, c.why) || (c.why == "") != (why == "") {
				t.Errorf("level %d %q, want %d %q", got, why, c.want, c.why)
			}
		})
	}
}

func TestOnlyWhatChangedIsWorthARow(t *testing.T) {
	a := recording.Socket{T: 1, State: "ESTABLISHED", Timer: "keepalive", TimerNext: 5, TCP: &recording.TCPInfo{LastSnd: 1, RTT: 2}}
	b := a
	b.T, b.TimerNext, b.TCP = 2, 4, &recording.TCPInfo{LastSnd: 2, RTT: 2}
	if fingerprintOf(&a) != fingerprintOf(&b) || !idle(&a) {
		t.Error("time alone makes a row")
	}
	b.TCP = &recording.TCPInfo{LastSnd: 2, RTT: 2, BytesAcked: 1}
	if fingerprintOf(&a) == fingerprintOf(&b) {
		t.Error("an acknowledged byte makes no row")
	}
	for _, s := range []recording.Socket{{SendQ: 1}, {RecvQ: 1}, {Timer: "persist"}, {State: "LISTEN", RecvQ: 1}} {
		if idle(&s) {
			t.Errorf("%+v counts as idle", s)
		}
	}
	if s := (recording.Socket{State: "LISTEN", SendQ: 128}); !idle(&s) {
		t.Error("a listener's backlog counts as waiting bytes")
	}
}

func TestAllowance(t *testing.T) {
	for level, want := range map[priority]int{suspect: 3000 + 29*150, quiet: 3000 - reserve + 1 + 29*150} {
		a := newAllowance()
		n := 0
		for second := range 30 {
			if second > 0 {
				a.tick(1)
			}
			for range 4000 {
				if a.take(level) {
					n++
				}
			}
		}
		if n != want {
			t.Errorf("level %d: %d rows in 30 s, want %d", level, n, want)
		}
	}
	a := newAllowance()
	for a.take(quiet) {
	}
	if !a.take(suspect) {
		t.Error("quiet sockets used up what suspicious ones need")
	}
}
