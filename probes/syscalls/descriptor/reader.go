package descriptor

import (
	"errors"
	"path/filepath"
	"strconv"
	"time"

	"snag/internal/netns"
	"snag/probes/sockets/diag"
	"snag/probes/sockets/owner"
	"snag/recording"
)

// Dumps of sockets are as rare as this, and take 1/share of the time at most.
const (
	least = time.Second
	share = 20
	// mostSpaces network namespaces are searched for the other end of a connection.
	mostSpaces = 64
)

// Reader keeps what it learnt of sockets for a short while. It is not for several
// goroutines.
type Reader struct {
	proc   string
	own    uint64
	owners *owner.Table
	spaces map[uint64]*space
	known  netns.Found
	listed time.Time
	failed error
	ends   map[string][]pipeEnd // of pipes, by what their links say
	ended  time.Time            // when they were looked for
	took   time.Duration
}

// New reads below the procfs root proc; own is the inode of snag's own network
// namespace.
func New(proc string, own uint64) *Reader {
	return &Reader{proc: proc, own: own, owners: owner.New(proc), spaces: map[uint64]*space{}}
}

// Failed is why sockets could not be dumped, the first time; nil where they could.
func (r *Reader) Failed() error { return r.failed }

// Hidden counts the processes whose descriptors may not be read: they are missing
// among the peers.
func (r *Reader) Hidden() int { return r.owners.Hidden() }

// space is the sockets of one network namespace, as they were at a time.
type space struct {
	at   time.Time
	took time.Duration
	inet map[uint64]*diag.Found
	flow map[flow]uint64
	unix map[uint64]diag.Unix
}

// flow is an end of a connection, with the inode of its socket as value.
type flow struct{ proto, local, remote string }

func (s *space) stale(now time.Time) bool {
	return s == nil || now.Sub(s.at) > max(least, share*s.took)
}

// dump reads the sockets of a namespace through a process that lives in it.
func (r *Reader) dump(id uint64, path string, now time.Time) *space {
	if s := r.spaces[id]; !s.stale(now) {
		return s
	}
	s := &space{at: now, inet: map[uint64]*diag.Found{}, flow: map[flow]uint64{}, unix: map[uint64]diag.Unix{}}
	ask := func() error {
		c, err := diag.Open()
		if err != nil {
			return err
		}
		defer c.Close()
		var errs []error
		for _, k := range diag.Kinds {
			errs = append(errs, c.Dump(k, diag.AllStates, s.take))
		}
		errs = append(errs, c.DumpUnix(diag.AnyState, func(u diag.Unix) { s.unix[u.Inode] = u }))
		return errors.Join(errs...)
	}
	err := error(nil)
	if id == r.own {
		err = ask()
	} else if h, openErr := netns.Open(netns.Namespace{ID: id, Path: path}); openErr != nil {
		err = openErr
	} else {
		err = h.Do(ask)
		_ = h.Close()
	}
	if err != nil && r.failed == nil {
		r.failed = err
	}
	s.took = time.Since(now)
	r.spaces[id] = s
	return s
}

func (s *space) take(f diag.Found) {
	s.inet[f.Inode] = &f
	if f.Remote != "" {
		s.flow[flow{f.Proto, f.Local, f.Remote}] = f.Inode
	}
}

// Complete fills in what is to be known of sockets: both ends, state and queues as
// they are now, and who is at the other end. What a row says already stays.
func (r *Reader) Complete(now time.Time, rows []*recording.FD) {
	peers := map[*recording.FD]uint64{}
	r.pipes(now, rows)
	for _, row := range rows {
		if row.Kind != socket {
			continue
		}
		if inode := r.socket(now, row); inode != 0 {
			peers[row] = inode
		}
	}
	if len(peers) == 0 {
		return
	}
	inodes := func(yield func(uint64) bool) {
		for _, n := range peers {
			if !yield(n) {
				return
			}
		}
	}
	if err := r.owners.Refresh(now, false, inodes); err != nil && r.failed == nil {
		r.failed = err
	}
	for row, inode := range peers {
		for _, o := range r.owners.Of(inode) {
			if row.PeerPID == 0 || row.PeerPID == row.PID { // a process may talk to itself, but rather to its child
				row.PeerPID, row.PeerComm = o.PID, o.Comm
			}
		}
	}
}

// socket fills in one and returns the inode of its other end, 0 for none.
func (r *Reader) socket(now time.Time, row *recording.FD) uint64 {
	id := r.netnsOf(row.PID)
	if id == 0 {
		id = r.own // it has ended: most live in the own one
	}
	s := r.dump(id, filepath.Join(r.proc, strconv.Itoa(row.PID), "ns/net"), now)
	if u, ok := s.unix[row.Inode]; ok {
		row.Proto, row.State = "unix", u.State
		if row.Local == "" {
			row.Local = u.Name
		}
		if peer, ok := s.unix[u.Peer]; ok && u.Peer != 0 {
			row.Remote = peer.Name
			// What was sent and is not read lies in the other end's queue, and is
			// charged to this one.
			row.RecvQ, row.SendQ = &u.RecvQ, &u.SendQ
		}
		return u.Peer
	}
	if f, ok := s.inet[row.Inode]; ok && row.Inode != 0 {
		row.Proto, row.State, row.Local, row.Remote = f.Proto, f.State, f.Local, f.Remote
		recv, send := f.RecvQ, f.SendQ
		row.RecvQ, row.SendQ = &recv, &send
	}
	if row.Remote == "" {
		return 0
	}
	return r.otherEnd(now, s, flow{row.Proto, row.Remote, row.Local})
}

// otherEnd finds the socket with that flow: in the same namespace, in the own one,
// then in the others.
func (r *Reader) otherEnd(now time.Time, s *space, f flow) uint64 {
	if inode := s.flow[f]; inode != 0 {
		return inode
	}
	if host := recording.Host(f.remote); host == "" || host == "::1" || len(host) > 4 && host[:4] == "127." {
		return 0 // nobody else has this address
	}
	if now.Sub(r.listed) > 5*time.Second {
		r.listed = now
		if found, err := netns.List(r.proc, netns.NameDirs, r.own); err == nil {
			r.known = found
		}
	}
	for _, n := range r.known.All[:min(len(r.known.All), mostSpaces)] {
		if inode := r.dump(n.ID, n.Path, now).flow[f]; inode != 0 {
			return inode
		}
	}
	return 0
}

// Forget drops what was learnt of sockets, so that the next look is fresh.
func (r *Reader) Forget() { clear(r.spaces) }
