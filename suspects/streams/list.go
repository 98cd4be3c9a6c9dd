// Package streams holds the causes of streams that stop or come late: who on a stream's way
// stalled, readers that are too slow for what they are sent, and snag's own part in what it
// saw.
package streams

import "snag/suspects/suspect"

// All are the suspects of this kind, in the order in which they are printed. A new one is a
// file and a line here.
var All = []*suspect.Suspect{
	slowConsumer,
	receiverTooSlow,
	encoderStall,
	uplinkThrottled,
	uplinkBlackhole,
	serverStall,
	readerStall,
	publisherSendsLess,
	logSilence,
	observer,
}
