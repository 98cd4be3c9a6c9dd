package wire

import (
	"time"

	"snag/probes/streams/stream"
)

// Defaults fills in what options leave open.
func Defaults(o stream.Options) stream.Options {
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Second
	}
	if o.Now == nil {
		o.Now = Monotonic
	}
	return o
}
