package trial

import (
	"context"
	"errors"
	"time"

	"snag/load/elimination"
)

const (
	portTries = 8
	// portEvery is how far those are apart that get no answer: Linux reports a closed port to one host once a second
	// (net.ipv4.icmp_ratelimit), after a few at once that the requests before have used up.
	portEvery  = 500 * time.Millisecond
	portEnough = 3 // answers, or reports
)

// reach sends datagrams one at a time until it is known whether somebody listens.
func (t *trial) reach(ctx context.Context) error {
	if !t.live.IsValid() {
		return errors.New("no address is known")
	}
	o, err := t.talk(ctx, t.Target)
	if err != nil {
		return err
	}
	defer o.close()
	for range portTries {
		if ctx.Err() != nil || o.answered.Load() >= portEnough || o.refused.Load() >= portEnough {
			break
		}
		if err := o.send(); err != nil {
			return err
		}
		o.await(ctx, min(portEvery, t.Timeout))
	}
	t.m.Port = &elimination.Port{Sent: o.sent, Answered: o.tried().Answered, Refused: min(o.sent, int(o.refused.Load()))}
	return nil
}
