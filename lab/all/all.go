// Package all lists the incidents. A new one is its folder and one line here.
package all

import (
	"snag/lab"
	udpreceivebufferfull "snag/lab/udp-receive-buffer-full"
)

// Incidents in the order in which they are run.
var Incidents = []lab.Incident{
	udpreceivebufferfull.Incident,
}
