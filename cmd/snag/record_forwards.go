package main

import (
	"sync"
	"time"

	"snag/fleet/forwards"
	"snag/fleet/remotewrite"
	"snag/recording"
)

// everyForwards is how often connection tracking is read: a busy host's has hundreds of thousands of entries.
const everyForwards = time.Minute

// forwarding remembers which addresses of services stand for which servers.
type forwarding struct {
	read func() ([]forwards.Forward, error)
	note func(string)

	mu   sync.Mutex // what is sent and who scrapes ask at any time
	at   time.Time
	last []forwards.Forward
	bad  bool
}

func newForwarding(note func(string)) *forwarding {
	return &forwarding{note: note, read: func() ([]forwards.Forward, error) { return forwards.Read("/proc", "/sys") }}
}

// series are what snag find --fleet follows such an address by.
func (f *forwarding) series(now time.Time) (out []remotewrite.Measured) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.at) >= everyForwards {
		var err error
		f.at = now
		if f.last, err = f.read(); err != nil && !f.bad {
			f.bad = true
			f.note("which servers are behind the addresses of services (NAT, IPVS) is not known: " + err.Error())
		}
	}
	for _, x := range f.last {
		out = append(out, remotewrite.Measured{Name: "snag_host_forward_connections",
			Labels: recording.Labels{"server": x.From.String(), "to": x.To.String()}, Value: float64(x.Connections)})
	}
	return out
}
