package ingest

import (
	"fmt"

	"snag/recording"
)

const measure = "streams.ingest"

func (f *Finder) coverage() recording.Coverage {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := recording.Coverage{Probe: measure, State: recording.CoverageOK, Since: f.since, Lost: f.dropped}
	switch {
	case !f.asked:
		c.State, c.Why = recording.CoverageOff, "no stream came by RTMP, which servers pass on as it is"
	case f.places == 0 && f.failed != nil:
		c.State, c.Why = recording.CoverageUnavailable, f.failed.Error()
		c.Cure = "run as root, or give the binary CAP_NET_RAW and CAP_SYS_ADMIN"
	case f.places == 0 && f.hidden > 0:
		c.State, c.Why = recording.CoverageUnavailable, fmt.Sprintf("the network namespaces of %d processes can't be known", f.hidden)
		c.Cure = "run as root, or give the binary CAP_SYS_PTRACE"
	case f.places == 0:
		c.State, c.Why, c.Cure = recording.CoverageOff, "its server is not on this host", "run on the server's host"
	case f.failed != nil:
		c.State, c.Why = recording.CoveragePartial, f.failed.Error()
	case f.dropped > 0:
		c.State, c.Why = recording.CoveragePartial, fmt.Sprintf("%d packets of %d found no room in the capture", f.dropped, f.packets)
	case f.senders == mostSenders:
		c.State, c.Why = recording.CoveragePartial, fmt.Sprintf("the first %d connections to the server were compared", mostSenders)
	}
	return c
}
