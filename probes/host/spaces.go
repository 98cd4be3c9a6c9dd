package host

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"snag/internal/netns"
	"snag/internal/sorting"
	"snag/probes/probe"
	"snag/recording"
)

// Bounds that keep the probe below one hundredth of a core: reading a namespace
// takes some 0.2 ms.
const (
	mostSpaces      = 256 // namespaces held open; the others are listed only
	spacesPerSecond = 24  // read each second; beyond it they take turns
	fdsPerSpace     = 8
)

// spaces measures each network namespace.
type spaces struct {
	env    *probe.Env
	meter  *meter
	once   *notices
	set    netns.Set
	open   map[uint64]*space
	order  []*space // the own one first, then the target's
	next   int      // whose turn it is
	left   map[uint64]bool
	most   int
	shared *shared
}

func newSpaces(env *probe.Env, m *meter, once *notices) *spaces {
	return &spaces{
		env: env, meter: m, once: once,
		set:  netns.Set{Proc: env.Proc, NameDirs: netns.NameDirs, Own: env.Netns, Shared: env.Spaces},
		open: map[uint64]*space{}, left: map[uint64]bool{},
		most: netns.MostOpen(fdsPerSpace, mostSpaces), shared: newShared(),
	}
}

// refresh looks for namespaces that came and went; always, or only when a look
// at the known ones says so. A namespace without process and name is let go at
// once: held open, its interfaces would outlive it.
func (s *spaces) refresh(always bool) {
	if !always && !s.set.Stale() {
		return
	}
	t := s.env.Now()
	came, gone, err := s.set.Refresh()
	if err != nil {
		s.meter.note("host.netstat", "namespaces that came later were not seen: "+err.Error(), "")
		return
	}
	for _, n := range gone {
		s.drop(t, n)
	}
	sorting.StableBy(came, func(a, b netns.Namespace) int { return s.rank(b.ID) - s.rank(a.ID) })
	for _, n := range came { // the own one and the target's before the bound is reached
		s.add(t, n)
	}
	if s.set.Hidden() > 0 {
		s.forAll(fmt.Sprintf("the namespaces of %d processes of other users were not seen", s.set.Hidden()), "run as root, or give the binary CAP_SYS_PTRACE and CAP_SYS_ADMIN")
	}
}

// forAll notes on every measure that is per namespace.
func (s *spaces) forAll(why, cure string) {
	for _, name := range []string{"host.netstat", "host.sockstat", "host.qdisc", "host.links", "host.sysctl"} {
		s.meter.note(name, why, cure)
	}
}

func (s *spaces) add(t recording.Time, n netns.Namespace) {
	s.env.Sink.Append(recording.Netns{T: t, ID: n.ID, Name: n.Name, Own: n.Own})
	if len(s.open) >= s.most {
		s.left[n.ID] = true
		s.forAll(fmt.Sprintf("%d namespaces were listed but not measured: at most %d are held open", len(s.left), s.most), "name the namespace: --netns NAME; or raise the limit of open files (ulimit -n)")
		return
	}
	sp, err := openSpace(s.env, s.meter, s.shared, n)
	if err != nil {
		s.left[n.ID] = true
		cure := ""
		why := err.Error()
		if errors.Is(err, netns.ErrNotPermitted) {
			why, cure = "other network namespaces than the own one were not measured: entering them is not permitted", "run as root, or give the binary CAP_SYS_ADMIN"
		}
		s.forAll(why, cure)
		return
	}
	s.open[n.ID] = sp
	s.order = append(s.order, sp)
	sorting.StableBy(s.order, func(a, b *space) int { return s.rank(b.ID) - s.rank(a.ID) })
}

// rank is greater for what is read every second whatever the number.
func (s *spaces) rank(id uint64) int {
	switch id {
	case s.env.Netns:
		return 2
	case s.env.Target.NetnsID:
		return 1
	}
	return 0
}

func (s *spaces) drop(t recording.Time, n netns.Namespace) {
	delete(s.left, n.ID)
	if sp := s.open[n.ID]; sp != nil {
		sp.close()
		delete(s.open, n.ID)
		s.order = slices.DeleteFunc(s.order, func(o *space) bool { return o == sp })
	}
	s.env.Sink.Append(recording.Event{
		T: t, End: t, Kind: recording.EventNetnsGone,
		Subject: recording.Subject{Kind: recording.KindNetns, Name: n.Name, Netns: n.ID},
	})
}

func (s *spaces) close() {
	for _, sp := range s.open {
		sp.close()
	}
}

// due returns the namespaces of this second's turn.
func (s *spaces) due(all bool) []*space {
	if all || len(s.order) <= spacesPerSecond {
		return s.order
	}
	var out []*space
	fixed := 0
	for fixed < len(s.order) && s.rank(s.order[fixed].ID) > 0 {
		out = append(out, s.order[fixed])
		fixed++
	}
	turns := s.order[fixed:]
	for range min(spacesPerSecond, len(turns)) {
		s.next = (s.next + 1) % len(turns)
		out = append(out, turns[s.next])
	}
	s.forAll(fmt.Sprintf("%d namespaces take turns: each is read every %d s", len(turns), (len(turns)+spacesPerSecond-1)/spacesPerSecond), "name the namespace: --netns NAME")
	return out
}

// again has the links and queueing disciplines that are still there written again, for a piece of a ring that
// begins. The ring forgets those that are not.
func (s *spaces) again() {
	for _, sp := range s.order {
		for _, l := range sp.linkSeen {
			l.written = false
		}
		for _, q := range sp.qdiscSeen {
			q.written = false
		}
	}
}

func (s *spaces) measure(all, slow bool) {
	due := s.due(all)
	s.meter.run("host.netstat", func(recording.Time) error { return each(due, func(sp *space) error { return sp.netstat(s.once) }) })
	s.meter.run("host.sockstat", func(recording.Time) error { return each(due, (*space).sockstat) })
	s.meter.run("host.links", func(recording.Time) error { return each(due, (*space).links) })
	s.meter.run("host.qdisc", func(recording.Time) error {
		return each(due, func(sp *space) error { return sp.qdiscs(s.once, all || slow) })
	})
	if slow {
		s.meter.run("host.links", func(recording.Time) error { return each(due, (*space).addresses) })
	}
}

// each does all of them and returns the last error: one broken namespace does
// not hide the others.
func each(due []*space, f func(*space) error) error {
	var last error
	for _, sp := range due {
		if err := f(sp); err != nil {
			last = fmt.Errorf("%s: %w", sp.called(), err)
		}
	}
	return last
}

// netnsLabels are nil for the own namespace, so that its series are
// node_exporter's.
func netnsLabels(n netns.Namespace) recording.Labels {
	if n.Own {
		return nil
	}
	return recording.Labels{"netns": strconv.FormatUint(n.ID, 10)}
}
