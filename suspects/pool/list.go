// Package pool holds the causes among what serves requests: threads, locks, pools of
// connections, and the answers of others that they wait for.
package pool

import "snag/suspects/suspect"

// All are the suspects of this kind, in the order in which they are printed. A new one is a
// file and a line here.
var All = []*suspect.Suspect{
	upstreamRefused,
	connectionLimit,
	errorAnswers,
	spinLock,
	lockConvoy,
	workerQueue,
	busyThread,
	slowDependency,
	poolExhausted,
	sessionLock,
}
