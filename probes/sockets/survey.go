package sockets

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"snag/internal/netns"
	"snag/probes/probe"
	"snag/probes/sockets/diag"
	"snag/recording"
)

// survey dumps the sockets of every network namespace that may be entered.
type survey struct {
	env *probe.Env
	set netns.Set
	// found are the sockets of the last dump.
	found []diag.Found
	// failed are the namespaces whose last dump failed, with the reason: what
	// was not seen there is not gone.
	failed map[uint64]error
	// unix is why the UNIX sockets of a namespace were not seen; nil: they were.
	unix error
	// crowd counts what has no row of its own: filled by a dump of everything.
	crowd crowd
	// ephemeral is how many ports connect() chooses from in the namespaces that have
	// many in use: of the last dump of everything.
	ephemeral map[uint64]int
	look      bool // this dump looks at everything that is looked at rarely
	// elsewhere is the CPU time spent on other threads, seconds.
	elsewhere float64
}

func newSurvey(env *probe.Env) *survey {
	return &survey{env: env, set: netns.Set{Proc: env.Proc, NameDirs: netns.NameDirs, Own: env.Netns, Shared: env.Spaces}, ephemeral: map[uint64]int{}}
}

// dump asks for all sockets, or, when wanted is not nil, for all UDP sockets and
// listeners and those few of each namespace. look searches for new namespaces.
func (s *survey) dump(look bool, wanted map[uint64]map[diag.Kind][][48]byte) error {
	s.found = s.found[:0]
	s.failed = map[uint64]error{}
	s.unix = nil
	s.crowd.reset()
	if wanted == nil {
		clear(s.ephemeral)
	}
	s.look = look
	if look || s.set.Stale() {
		if _, _, err := s.set.Refresh(); err != nil {
			return err
		}
	}
	for _, n := range s.set.All() {
		var few map[diag.Kind][][48]byte
		if wanted != nil {
			few = wanted[n.ID]
		}
		err := s.inside(n, func() error { return s.ask(n.ID, wanted == nil, few) })
		if err != nil && (n.Own || errors.Is(err, netns.ErrNotPermitted) || exists(n)) {
			s.failed[n.ID] = err
		} // else the namespace ended meanwhile, and its sockets with it
	}
	return nil
}

func (s *survey) inside(n netns.Namespace, f func() error) error {
	if n.Own {
		return f()
	}
	// The namespace is opened anew each time: held open, it would outlive its
	// processes and keep their addresses and ports.
	h, err := netns.Open(n)
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Do(func() error {
		before := probe.ThreadCPU()
		defer func() { s.elsewhere += probe.ThreadCPU() - before }()
		return f()
	})
}

func exists(n netns.Namespace) bool {
	var st unix.Stat_t
	return unix.Stat(n.Path, &st) == nil && st.Ino == n.ID
}

func (s *survey) ask(id uint64, everything bool, few map[diag.Kind][][48]byte) error {
	c, err := diag.Open()
	if err != nil {
		return err
	}
	defer c.Close()
	t := s.env.Now()
	take := func(f diag.Found) {
		f.T, f.Netns = t, id
		if everything && s.crowd.take(&f) {
			return
		}
		s.found = append(s.found, f)
	}
	if everything {
		s.crowd.begin(t, id)
		defer func() {
			if len(s.crowd.use) > 0 { // ports are in use: of how many?
				s.ephemeral[id] = ephemeralPorts(s.env.Proc)
			}
			s.crowd.end(s.ephemeral[id])
		}()
	}
	var errs []error
	for _, k := range diag.Kinds {
		states := uint32(diag.AllStates)
		if !everything && k.TCP() {
			states = 1 << diag.Listen
		}
		errs = append(errs, c.Dump(k, states, take))
		if everything && s.look && k.TCP() && manyTimeWait() {
			errs = append(errs, c.Dump(k, 1<<diag.TimeWait, s.crowd.timeWait))
		}
		if len(few[k]) > 0 {
			errs = append(errs, c.Get(k, few[k], take))
		}
	}
	if err := s.askUnix(c, t, id, everything); err != nil {
		s.unix = err // costs no more than these
	}
	return errors.Join(errs...)
}

// unseen says in words what of the machine the last dump did not reach; both
// are "" when it was all.
func (s *survey) unseen() (why, cure string) {
	for id, err := range s.failed {
		n, _ := s.set.Get(id)
		if errors.Is(err, netns.ErrNotPermitted) {
			return fmt.Sprintf("the sockets of %d other network namespaces were not seen: entering one is not permitted", len(s.failed)),
				"run as root, or give the binary CAP_SYS_ADMIN"
		}
		return fmt.Sprintf("network namespace %d %s: %v", id, n.Name, err), ""
	}
	if n := s.set.Hidden(); n > 0 {
		return fmt.Sprintf("the network namespaces of %d processes can't be read", n),
			"run as root, or give the binary CAP_SYS_PTRACE and CAP_SYS_ADMIN"
	}
	return "", ""
}

// atPort reports whether either end has that port.
func atPort(s *recording.Socket, port string) bool {
	return recording.Port(s.Local) == port || recording.Port(s.Remote) == port
}
