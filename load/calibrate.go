package load

import (
	"context"
	"time"
)

// calibratedFor is long enough for some hundred answers at a thousand a second.
const calibratedFor = 500 * time.Millisecond

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
