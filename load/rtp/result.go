package rtp

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"snag/internal/units"
)

// Result is what came of a run. Times are in nanoseconds.
type Result struct {
	Plan    Plan
	Took    time.Duration
	Frames  int64 // begun
	Packets int64 // that the sockets took
	Bytes   int64 // of payload in them
	// Refused are packets that a socket did not take, and ICMP errors, by what they mean.
	Refused map[string]int64
	// Unsent packets were due and not sent when the time was over.
	Unsent int64
	// FrameLag is how late the first packet of a frame was sent, PacketLag of all packets: of a burst each
	// waits for those before it. Burst is from a frame's first packet to its last.
	FrameLag, PacketLag, Burst *hdrhistogram.Histogram
	Reports                    *Reports // nil: no receiver sent any
}

// Reports are what receivers said.
type Reports struct {
	N       int64
	Senders int   // of whom
	Lost    int64 // packets
	Of      int64 // packets that the receiver knows of
	// Jitter is the interarrival jitter of each report (RFC 3550, section 6.4.1), RoundTrip of the reports.
	Jitter, RoundTrip *hdrhistogram.Histogram
}

const longest = time.Hour

func histogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, longest.Nanoseconds(), 3)
}

func note(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(min(max(d, 0), longest).Nanoseconds()) // fails beyond longest alone
}

func newResult(p Plan) *Result {
	return &Result{Plan: p, Refused: map[string]int64{}, FrameLag: histogram(), PacketLag: histogram(), Burst: histogram()}
}

// take adds what the senders heard.
func (r *Result) take(senders []*sender) {
	heard := &Reports{Jitter: histogram(), RoundTrip: histogram()}
	for _, s := range senders {
		for kind, n := range s.refused {
			r.Refused[kind] += n
		}
		if s.heard.n == 0 {
			continue
		}
		heard.Senders++
		heard.N += s.heard.n
		heard.Lost += max(s.heard.lost, 0)
		heard.Of += s.heard.expected()
		for _, d := range s.heard.jitter {
			note(heard.Jitter, d)
		}
		for _, d := range s.heard.trips {
			note(heard.RoundTrip, d)
		}
	}
	if heard.N > 0 {
		r.Reports = heard
	}
}

// Bitrate is bit/s of payload that the sockets took.
func (r *Result) Bitrate() float64 {
	if r.Took <= 0 {
		return 0
	}
	return float64(r.Bytes) * 8 / r.Took.Seconds()
}

// What makes the load another than was asked for.
const (
	mostLag    = 0.1 // of the time between two frames, at the median
	mostUnsent = 0.01
)

// Honest says why what was sent is not what was asked for, by snag's own fault; "" if it is.
func (r *Result) Honest() string {
	frame := time.Duration(float64(time.Second) / r.Plan.Shape.FPS)
	if lag := time.Duration(r.FrameLag.ValueAtQuantile(50)); float64(lag) > mostLag*float64(frame) {
		return fmt.Sprintf("half of the frames were sent %s late or more by snag itself, with a frame each %s: fewer --conns, or a dedicated CPU (--cpu)", units.Short(lag.Seconds()), units.Short(frame.Seconds()))
	}
	if all := r.FrameLag.TotalCount(); all == 0 {
		return "no frame was sent"
	}
	if sent := r.PacketLag.TotalCount(); float64(r.Unsent) > mostUnsent*float64(sent+r.Unsent) {
		return fmt.Sprintf("%s of %s packets were due and not sent: snag's thread did not keep up: fewer --conns, or less --bitrate", units.Count(float64(r.Unsent)), units.Count(float64(sent+r.Unsent)))
	}
	return ""
}
