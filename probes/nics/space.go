package nics

import (
	"errors"
	"fmt"
	"io/fs"
	"net"

	"snag/internal/netns"
	"snag/internal/sorting"
)

// Bounds: a namespace costs some 0.5 ms to ask, a device 2 µs and more.
const (
	mostSpaces  = 64
	mostDevices = 1024 // looked at in one namespace
)

// space is one namespace during a scan. Nothing of it is held open between scans:
// a socket would keep the namespace alive.
type space struct {
	netns.Namespace
	devices []string
	nics    []device // those of them that have hardware behind them
}

// device is one interface of one namespace.
type device struct {
	netns uint64
	name  string
}

// namespaces finds those to ask, the own one first, then the target's.
func (s *sampler) namespaces() []*space {
	found, err := s.env.Spaces.List(s.env.Proc, netns.NameDirs, s.env.Netns, false)
	if err != nil {
		s.ledger.note("nics.settings", "other network namespaces were not seen: "+err.Error(), "")
		found.All = []netns.Namespace{{ID: s.env.Netns, Own: true}}
	}
	if found.Hidden > 0 {
		s.ledger.note("nics.settings", fmt.Sprintf("the namespaces of %d processes of other users were not seen", found.Hidden), "run as root, or give the binary CAP_SYS_PTRACE and CAP_SYS_ADMIN")
	}
	sorting.StableBy(found.All, func(a, b netns.Namespace) int { return s.rank(b) - s.rank(a) })
	if n := len(found.All); n > mostSpaces {
		s.ledger.note("nics.settings", fmt.Sprintf("of %d network namespaces %d were asked", n, mostSpaces), "name the namespace: --netns NAME")
		found.All = found.All[:mostSpaces]
	}
	out := make([]*space, len(found.All))
	for i, n := range found.All {
		out[i] = &space{Namespace: n}
	}
	return out
}

func (s *sampler) rank(n netns.Namespace) int {
	switch {
	case n.Own:
		return 2
	case n.ID == s.env.Target.NetnsID:
		return 1
	}
	return 0
}

// within runs f in the namespace; its CPU time is counted. A namespace that ended since it was
// listed has no interfaces that were missed.
func (sp *space) within(l *ledger, f func() error) error {
	if sp.Own {
		return f()
	}
	h, err := netns.Open(sp.Namespace)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Do(l.inside(f))
}

// list finds the namespace's interfaces; it runs inside of it.
func (sp *space) list(l *ledger) error {
	all, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("list the interfaces of %s: %w", sp.called(), err)
	}
	if len(all) > mostDevices {
		l.note("nics.settings", fmt.Sprintf("of %d interfaces of %s %d were looked at", len(all), sp.called(), mostDevices), "")
		all = all[:mostDevices]
	}
	sp.devices = sp.devices[:0]
	for _, i := range all {
		sp.devices = append(sp.devices, i.Name)
	}
	return nil
}

func (sp *space) called() string {
	if sp.Own {
		return "the own network namespace"
	}
	return "network namespace " + sp.Name
}
