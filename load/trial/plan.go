// Package trial runs the experiments of package elimination on a service.
package trial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"snag/load"
	"snag/load/elimination"
)

// Plan is what to try, and for how long.
type Plan struct {
	URL     string
	Request load.Request
	Target  load.Target // what URL and Request make
	Options load.SocketOptions
	Slow    time.Duration // answers that take longer are slow
	Timeout time.Duration // of a request
	Within  time.Duration // of all together
	// HighRate is the most requests per second that are sent.
	HighRate float64
	// Here: on the server itself. The way there is not tried.
	Here bool
	// All goes on after the first experiment that finds a suspect.
	All bool
	// Beside says that the host is recorded and judged meanwhile. What would load the service, or ask it for
	// what it may refuse, is left out: it would be found as the host's own trouble.
	Beside bool
	// Server is what was measured on the server itself; nil: nothing was.
	Server *elimination.Measures
}

// trial is one run of a plan.
type trial struct {
	Plan
	m         *elimination.Measures
	port      uint16
	host      string
	addresses []netip.AddrPort // of the name
	live      netip.AddrPort   // one that takes connections; not valid: none is known
}

// experiments run by their names.
var experiments = map[string]func(*trial, context.Context) error{
	elimination.TheRequest:    (*trial).request,
	elimination.OwnServer:     (*trial).own,
	elimination.Lookup:        (*trial).lookup,
	elimination.Connects:      (*trial).connects,
	elimination.ThePort:       (*trial).reach,
	elimination.TheWay:        (*trial).way,
	elimination.Sizes:         (*trial).sizes,
	elimination.ByBytes:       (*trial).bytes,
	elimination.Handshakes:    (*trial).handshakes,
	elimination.NewOnes:       (*trial).newOnes,
	elimination.SocketOptions: (*trial).options,
	elimination.NullRequest:   (*trial).null,
	elimination.InBursts:      (*trial).bursts,
	elimination.ManyRates:     (*trial).rates,
}

func newTrial(ctx context.Context, p Plan) (*trial, error) {
	host, port, err := net.SplitHostPort(p.Target.Address)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("%s is not a port: 1 to 65535", port)
	}
	local, err := p.Target.Here(ctx)
	var unknown *net.DNSError
	if err != nil && !errors.As(err, &unknown) { // that the name is not found is a finding
		return nil, err
	}
	if p.Here && !local {
		return nil, fmt.Errorf("%s is not an address of this host: --here is for the server itself; name the address that the service listens on there", host)
	}
	t := &trial{Plan: p, host: host, port: uint16(n)}
	t.m = &elimination.Measures{Version: 1, Target: p.Target.Name, Here: p.Here, Local: local, Network: p.Target.Network, Secure: p.Target.Secure(),
		Slow: p.Slow.Seconds(), NoDelay: p.Options.NoDelay != nil && *p.Options.NoDelay, HighRate: p.HighRate, Server: p.Server}
	if _, what, err := load.Nothing(p.URL, p.Request); err == nil {
		t.m.DoesNothing = what
	}
	return t, nil
}

// atLive is a target at an address that takes connections: a name is not looked up again.
func (t *trial) atLive(to load.Target) load.Target {
	if t.live.IsValid() {
		to.Address = t.live.String()
	}
	return to
}
