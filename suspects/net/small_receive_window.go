package net

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var smallReceiveWindow = &suspect.Suspect{
	Name:  "small-receive-window",
	Title: "a receive window too small for the round trip",
	About: "The receiver offers less window than the path holds, so that the sender stops for the rest of each round trip: throughput is window over round trip, however fast the line. The receiver reads all that comes; it looks like a slow network. A slow reader shuts the window too, but then its receive queue is full; a queue on the way lengthens the round trip, and a larger window would only lengthen it more.",
	Needs: []suspect.Need{
		{Measure: "sockets.diag", Must: true, Why: "how long the sender waited for the window, the window, the round trip, the reader's queue"},
		{Measure: "host.sysctl", Must: false, Why: "tcp_rmem: how far the window may grow"},
		{Measure: "sockets.owner", Must: false, Why: "which process owns these sockets"},
	},
	For: []string{
		"decisive: throughput is window over round trip, and the reader, on this host, leaves nothing unread",
		"strong: the sender waited for the window for most of the time",
		"strong (a capture on the sender's side): nine of ten ACKs that come while all of the window is on its way offer the largest window again: nothing waits unread in the socket buffer (faulty 1.00, a slow reader 0.1)",
		"strong (receiver alone): what comes is window over round trip, nothing waits unread in the socket buffer, and the buffer no longer grows",
	},
	Against: []string{
		"decisive: data waits unread in the receiver's socket buffer, by its queue or by the windows that it offers: a slow reader",
		"decisive: the round trip is a multiple of the shortest one: a queue on the way, which a larger window would fill",
		"strong: the window was shut: the reader stopped",
		"trap: a sender held by its congestion window, or with little to send",
	},
	InFiles: map[string][]string{"sockets.diag": {"pcap.flows"}},
	LeadsTo: []suspect.Lead{
		{To: "uplink-throttled", Lag: 5 * time.Second},
		{To: scene.ThroughputPlateau, Lag: 5 * time.Second}, {To: scene.StreamLate, Lag: 5 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}},
	Claims: []ledger.Account{ledger.Window},
	Remedy: suspect.Remedy{
		Permanently: "The third value of net.ipv4.tcp_rmem at twice rate × round trip, in /etc/sysctl.d. New connections get it.",
		Program:     "Do not set SO_RCVBUF: the kernel then grows the buffer itself.",
	},
	Verified: "rwnd_limited is near 0, and throughput is higher",
	Next:     "ss -tnmi state established   # rwnd_limited, snd_wnd, rtt; at the receiver Recv-Q, rb, rcv_space",
	Weigh:    weighSmallReceiveWindow,
}

const (
	// windowWaits is the least share of the time that the sender waits for the
	// window: receivers that grow their buffer cost a few percent at the start.
	windowWaits = 0.2
	// longTrip: under it, waiting for the window is waiting for the reader's CPU;
	// 64 KiB every 10 ms are 52 Mbit/s.
	longTrip = 0.01 // s
	// A window of some segments is too small for the shortest path on which anybody waits.
	tinyWindow = 16 << 10 // bytes
	shortTrip  = 0.001    // s
	// identity: rate × round trip over window, which is 1 where nothing else
	// holds the sender back; both are sampled.
	fitLeast, fitMost = 0.6, 1.4
)

func weighSmallReceiveWindow(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, k := range s.Sockets {
		if k.First().Proto != "tcp" || k.Listening() || measure.OwnSocket(r, k) {
			continue
		}
		if f, ok := heldByWindow(s, r, k); ok {
			out = append(out, f)
		} else if f, ok := offersTooLittle(s, r, k); ok {
			out = append(out, f)
		}
	}
	return out
}

// heldByWindow judges by the sender's socket.
func heldByWindow(s *scene.Scene, r *recording.Recording, k *scene.Socket) (suspect.Finding, bool) {
	rows := measure.TCPRowsOf(k)
	if len(rows) < 2 {
		return suspect.Finding{}, false
	}
	first, last := rows[0], rows[len(rows)-1]
	span := last.T.Sub(first.T).Seconds()
	limited := (last.TCP.RwndLimited - first.TCP.RwndLimited) / span
	rate := (float64(last.TCP.BytesAcked) - float64(first.TCP.BytesAcked)) / span
	rtt := measure.Median(rows, func(s recording.Socket) float64 { return s.TCP.RTT })
	window := measure.Median(rows, func(s recording.Socket) float64 { return float64(s.TCP.SndWnd) })
	if span <= 0 || limited < windowWaits || rtt < tripFor(window) || rate <= 0 {
		return suspect.Finding{}, false
	}
	f := suspect.Finding{Subject: k.Subject, Active: waitedForWindow(rows), Next: "at the receiver: ss -tnmi 'src " + recording.Host(k.First().Remote) + "'"}
	f.Evidence = []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: limited, Unit: "ratio", Source: source.SS("-tin", source.RwndLimited), Origin: "rwnd_limited",
		Text: fmt.Sprintf("the sender waited for the receiver's window during %.0f %% of %s", 100*min(1, limited), units.Lasting(span))}}
	shut, samples := 0, 0
	for _, row := range rows {
		samples++
		if row.Timer == "persist" || window > 0 && row.TCP.SndWnd == 0 {
			shut++
		}
	}
	if 3*shut >= samples {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: float64(shut), Unit: "samples", Source: source.Of("ss -tino timer persist"), Origin: "window",
			Text: fmt.Sprintf("the window was shut in %d of %d samples: the reader stopped", shut, samples)})
	}
	if short := last.TCP.MinRTT; short > 0 && rtt >= measure.BloatedTimes*short && rtt-short >= longTrip {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: rtt - short, Unit: "s", Source: source.SS("-tin", source.RTT, source.MinRTT), Origin: "rtt",
			Text: fmt.Sprintf("the round trip is %s against %s when nothing waits: a queue on the way, or a busy receiver; a larger window would only fill it", units.Lasting(rtt), units.Lasting(short))})
	}
	identity := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: rate, Unit: "B/s", Source: source.SS("-tin", source.SndWnd, source.RTT, source.BytesAcked), Origin: "window over round trip"}
	if window > 0 {
		identity.Text = fmt.Sprintf("a window of %s every %s is %s/s; %s/s were acknowledged", units.Bytes(window), units.Lasting(rtt), units.Bytes(window/rtt), units.Bytes(rate))
		if fit := rate * rtt / window; fit < fitLeast || fit > fitMost {
			identity.Side, identity.Grade = suspect.Against, suspect.Strong
		}
	} else {
		identity.Text = "this kernel does not report the window (snd_wnd, Linux 5.4)"
		identity.Side = suspect.Missing
	}
	who := recording.Host(k.First().Remote)
	if p := k.Peer; p != nil {
		f.Subject, f.Related = p.Subject, append(f.Related, k.Subject)
		who = p.Subject.Name
		unread, of, most := unreadShare(p)
		if 2*unread > of {
			f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: float64(most), Unit: "B", Source: source.SS("-tnm", source.RecvQ), Origin: "reader",
				Text: fmt.Sprintf("data waited unread in the socket buffer of %s in %d of %d samples, up to %s: it reads too slowly", who, unread, of, units.Bytes(float64(most)))})
		} else if of > 0 {
			identity.Text += fmt.Sprintf("; at %s next to nothing waited unread in the socket buffer in %d of %d samples", who, of-unread, of)
			if identity.Side == suspect.For {
				identity.Grade = suspect.Decisive
			}
		}
	} else if e, ok := readAsItCame(r, k); ok {
		f.Evidence = append(f.Evidence, e)
	} else {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Missing, Text: "the receiver is on another host: its Recv-Q would distinguish a small buffer from a slow reader", Source: source.Of("ss -tnmi at the receiver")})
	}
	if identity.Grade == suspect.Decisive && slices.ContainsFunc(f.Evidence, func(e suspect.Evidence) bool { return e.Side == suspect.Against && e.Grade == suspect.Decisive }) {
		identity.Grade = suspect.Weak // a queue that is as deep as the window makes the same identity
	}
	f.Evidence = append(f.Evidence, identity)
	f.Text = fmt.Sprintf("%s offers %s of window over a round trip of %s: %s, and the sender waits %.0f %% of the time", who, units.Bytes(window), units.Lasting(rtt), units.LineRate(rate), 100*min(1, limited))
	f.Settings, f.Calls = windowSettings(r, k.Peer, rate, rtt)
	f.Remedy = windowRemedy(s, r, k.Peer, f.Settings)
	f.Harm = suspect.Harm{Symptom: scene.ThroughputPlateau, Amount: min(1, limited), Of: 1, Unit: "ratio",
		Text: fmt.Sprintf("held at %s: the sender had data and was not allowed to send during %.0f %% of the time", units.LineRate(rate), 100*min(1, limited))}
	return f, true
}

// tripFor is the least round trip over which a window of that size may be what holds a sender back.
func tripFor(window float64) float64 {
	if window > 0 && window < tinyWindow {
		return shortTrip
	}
	return longTrip
}

// waitedForWindow is when the sender spent a good part of the time waiting.
func waitedForWindow(rows []recording.Socket) []recording.Interval {
	var out []recording.Interval
	for i := 1; i < len(rows); i++ {
		a, b := rows[i-1], rows[i]
		if b.TCP.RwndLimited-a.TCP.RwndLimited >= windowWaits*b.T.Sub(a.T).Seconds() {
			out = append(out, recording.Interval{Start: a.T, End: b.T})
		}
	}
	return intervals.Merge(out, measure.Joined)
}

// unreadShare is in how many samples a good part of the buffer waited unread: what
// a reader has not picked up yet is there at any instant.
func unreadShare(p *scene.Socket) (unread, of, most int) {
	for _, row := range p.Rows {
		of++
		if row.RecvQ > 0 && 8*row.RecvQ >= row.RcvBuf {
			unread++
		}
		most = max(most, row.RecvQ)
	}
	return unread, of, most
}

// offersTooLittle judges by the receiver's socket alone, where the sender is
// elsewhere.
func offersTooLittle(s *scene.Scene, r *recording.Recording, k *scene.Socket) (suspect.Finding, bool) {
	rows := measure.TCPRowsOf(k)
	if k.Peer != nil || len(rows) < 2 {
		return suspect.Finding{}, false
	}
	first, last := rows[0], rows[len(rows)-1]
	span := last.T.Sub(first.T).Seconds()
	rate := (float64(last.TCP.BytesReceived) - float64(first.TCP.BytesReceived)) / span
	rtt := measure.Median(rows, func(s recording.Socket) float64 { return s.TCP.RcvRTT })
	window := measure.Median(rows, func(s recording.Socket) float64 { return float64(s.TCP.RcvWnd) })
	unread, of, _ := unreadShare(k)
	if span <= 0 || rate*span < 10*window || rtt < tripFor(window) || window <= 0 {
		return suspect.Finding{}, false
	}
	fit := rate * rtt / window
	if fit < fitLeast || fit > fitMost || 2*unread > of {
		return suspect.Finding{}, false
	}
	f := suspect.Finding{Subject: k.Subject, Next: "at the sender: ss -tin 'dst " + recording.Host(k.First().Local) + "'   # rwnd_limited"}
	f.Evidence = []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: rate, Unit: "B/s", Source: source.SS("-tin", source.Word("rcv_wnd"), source.Word("rcv_rtt"), source.BytesReceived), Origin: "window over round trip",
		Text: fmt.Sprintf("a window of %s every %s is %s/s; %s/s came, and next to nothing waited unread in the socket buffer in %d of %d samples", units.Bytes(window), units.Lasting(rtt), units.Bytes(window/rtt), units.Bytes(rate), of-unread, of)}}
	if buf := last.RcvBuf; buf > 0 && buf == first.RcvBuf {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(buf), Unit: "B", Source: source.Of("ss -tnm rb"), Origin: "buffer",
			Text: fmt.Sprintf("its receive buffer stood at %s all the time: %s", units.Bytes(float64(buf)), whyItStands(r, k))})
	}
	f.Settings, f.Calls = windowSettings(r, k, rate, rtt)
	f.Remedy = windowRemedy(s, r, k, f.Settings)
	f.Text = fmt.Sprintf("a window of %s over a round trip of %s lets no more than %s come", units.Bytes(window), units.Lasting(rtt), units.LineRate(window/rtt))
	f.Harm = suspect.Harm{Symptom: scene.ThroughputPlateau, Amount: min(1, fit), Of: 1, Unit: "ratio",
		Text: fmt.Sprintf("held at %s by the window", units.LineRate(rate))}
	return f, true
}

// mostReceive is the third value of tcp_rmem: how far the kernel lets a buffer
// grow by itself.
func mostReceive(r *recording.Recording, netns uint64) (float64, bool) {
	text, ok := r.FactOf("net.ipv4.tcp_rmem", netns)
	if !ok {
		text, ok = r.FactOf("net.ipv4.tcp_rmem", 0)
	}
	f := strings.Fields(text)
	if !ok || len(f) != 3 {
		return 0, false
	}
	v, err := strconv.ParseFloat(f[2], 64)
	return v, err == nil
}

func whyItStands(r *recording.Recording, k *scene.Socket) string {
	most, ok := mostReceive(r, k.First().Netns)
	switch {
	case !ok:
		return "set by SO_RCVBUF, or at the end of tcp_rmem"
	case float64(k.Last().RcvBuf) >= 0.99*most:
		return fmt.Sprintf("tcp_rmem ends at %s", units.Bytes(most))
	}
	return fmt.Sprintf("set by SO_RCVBUF (tcp_rmem would let it grow to %s)", units.Bytes(most))
}

// windowRemedy is the setting, or the program that holds the kernel back from growing the
// buffer. k is the receiver's end, nil where it is on another host.
func windowRemedy(s *scene.Scene, r *recording.Recording, k *scene.Socket, set []suspect.Setting) suspect.Remedy {
	if k == nil {
		return suspect.Remedy{Permanently: "On the receiver's host: the third value of net.ipv4.tcp_rmem at twice rate × round trip, in /etc/sysctl.d.", Program: "The receiver: do not set SO_RCVBUF."}
	}
	if most, ok := mostReceive(r, k.First().Netns); ok && float64(k.Last().RcvBuf) < 0.99*most {
		return suspect.Remedy{Program: fmt.Sprintf("%s: do not set SO_RCVBUF (now %s with overhead). The kernel then grows the buffer to %s.", measure.OrProgram(k.Subject.Comm), units.Bytes(float64(k.Last().RcvBuf)), units.Bytes(most))}
	}
	return suspect.Remedy{Permanently: remedy.Kept(s, r, set)}
}
