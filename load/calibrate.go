package load

import (
	"context"
	"math"
	"time"
)

// calibratedFor is long enough for some hundred answers at a thousand per second.
const calibratedFor = 500 * time.Millisecond

// calibratedRate is the rate at which the empty server of many rates is asked, or the nearest of them: it has enough
// answers, and leaves the host's CPUs free.
const calibratedRate = 1000

// Calibrate runs a plan for half a second against a server of this process that answers at once: what
// it measures is what measuring takes here and now, and no part of the service. Server and client
// share this host's CPUs, so that it is the most it takes.
func Calibrate(ctx context.Context, p Plan) (*Result, error) {
	n, err := NewNull(p.Target)
	if err != nil {
		return nil, err
	}
	defer n.Close()
	p.Target, p.For, p.Warm = n.Target, calibratedFor, 50*time.Millisecond
	return Run(ctx, p)
}

// CalibrateSweep is Calibrate for a sweep, on the first number of its connections.
func CalibrateSweep(ctx context.Context, s Sweep) (*Result, error) {
	p := s.Plan
	p.Conns, p.Rate = s.Conns[0], min(max(s.From, calibratedRate), s.To)
	return Calibrate(ctx, p)
}

// CalibrateSearch is Calibrate for a search, at a rate of it or with as many sessions as ask at about that rate.
func CalibrateSearch(ctx context.Context, s Search) (*Result, error) {
	at := float64(calibratedRate)
	if s.Every > 0 {
		at = math.Round(at * s.Every.Seconds())
	}
	return Calibrate(ctx, s.plan(min(max(s.From, at), s.To)))
}
