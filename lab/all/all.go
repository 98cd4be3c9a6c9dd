// Package all lists the incidents. A new one is its folder and one line here.
package all

import (
	"snag/lab"
	fdlimit "snag/lab/fd-limit"
	listenoverflow "snag/lab/listen-overflow"
	nagledelayedack "snag/lab/nagle-delayed-ack"
	peerreset "snag/lab/peer-reset"
	reconnectstorm "snag/lab/reconnect-storm"
	slowconsumer "snag/lab/slow-consumer"
	udpreceivebufferfull "snag/lab/udp-receive-buffer-full"
)

// Incidents in the order in which they are run.
var Incidents = []lab.Incident{
	udpreceivebufferfull.Incident,
	listenoverflow.Incident,
	reconnectstorm.Incident,
	nagledelayedack.Incident,
	peerreset.Incident,
	slowconsumer.Incident,
	fdlimit.Incident,
}
