package load

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"snag/load/protocol"
)

// run is one run of a plan, all of it on one thread.
type run struct {
	plan   Plan
	to     unix.Sockaddr
	family int
	poll   *poller
	conns  []conn
	order  byReady
	buf    []byte
	began  time.Time
	now    time.Duration // since began
	from   time.Duration // what was sent before does not count
	until  time.Duration // nothing that is due later is sent
	open   int
	opened time.Duration // when open changed last
	area   float64       // of open over time, request-seconds
	// The second that goes on, and its part of area; counts: the connections are made.
	second     Second
	secondArea float64
	counts     bool
	spent      float64 // CPU time of the thread before it was the load's, s
	checked    time.Duration
	waited     time.Duration // in poll.wait
	dozes      bool          // the kernel's timestamps say when an answer came (doze.go)
	stamped    stamped
	out        *Result

	leaving  []*conn   // connections that the other side ends, and over which answers are still to come (leave.go)
	sessions []session // of each connection; nil: they are none
	flow     *flowing  // nil: requests are asked, and no bandwidth
	taken    int64     // requests that the kernel took whole
	logins   *logins   // nil: the protocol has none
	loginErr error     // the first one
	asked    int       // requests of a Client that are open, or wait for their connection
	address  string    // the numeric form of to
}

// Run asks until the plan's time is over or ctx is done; what came until then is returned.
func Run(ctx context.Context, p Plan) (*Result, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	r := &run{plan: p, buf: make([]byte, 256<<10), from: p.Warm, until: p.Warm + p.For,
		out: &Result{Plan: p, Lost: map[Kind]int64{}, FromDue: newHistogram(), FromSent: newHistogram(), Lag: newHistogram()}}
	r.dozes = mayDoze(p)
	if p.Bandwidth > 0 {
		r.flow = &flowing{}
	}
	if err := r.resolve(ctx); err != nil {
		return nil, err
	}
	r.out.Address = r.address
	if err := p.raiseDescriptors(); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() {
		if p.Client == nil {
			runtime.LockOSThread() // and never unlocked: the thread ends with it, and its timer's slack
		}
		done <- r.all(ctx)
	}()
	return r.out, <-done
}

func (r *run) resolve(ctx context.Context) error {
	host, port, _ := net.SplitHostPort(r.plan.Target.Address) // checked before
	n, err := net.DefaultResolver.LookupPort(ctx, r.plan.Target.Network, port)
	if err != nil {
		return err
	}
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return fmt.Errorf("find the address of %s: %w", host, err)
	}
	ip := all[0].Unmap()
	defer func() { r.address = netip.AddrPortFrom(ip, uint16(n)).String() }()
	for _, a := range all {
		if a.Unmap().Is4() {
			ip = a.Unmap()
			break
		}
	}
	if ip.Is4() {
		r.family, r.to = unix.AF_INET, &unix.SockaddrInet4{Port: n, Addr: ip.As4()}
		return nil
	}
	to := &unix.SockaddrInet6{Port: n, Addr: ip.As16()}
	if zone := ip.Zone(); zone != "" {
		link, err := net.InterfaceByName(zone)
		if err != nil {
			return fmt.Errorf("%s: no interface %s", host, zone)
		}
		to.ZoneId = uint32(link.Index)
	}
	r.family, r.to = unix.AF_INET6, to
	return nil
}

func (r *run) all(ctx context.Context) (err error) {
	r.spent = threadCPU()
	if err := Pin(r.plan.Options.CPU); err != nil {
		return err
	}
	polled := newPoller
	if r.plan.Client != nil {
		polled = newParked
	}
	if r.poll, err = polled(); err != nil {
		return err
	}
	r.poll.seen = r.plan.Target.near
	defer r.poll.close()
	r.conns = make([]conn, r.plan.Conns)
	if r.plan.Sessions {
		r.sessions = newSessions(r.plan.Conns)
	}
	for i := range r.conns {
		r.conns[i] = conn{fd: -1, next: int64(i), heapAt: -1}
		if r.plan.Client != nil {
			r.conns[i].asker = &asker{}
		}
	}
	defer r.closeAll()
	if with, ok := r.plan.Target.Protocol.(protocol.Login); ok {
		if r.logins, err = newLogins(ctx, r, with); err != nil {
			return err
		}
		defer r.logins.end()
	}
	if r.plan.Client == nil {
		if err := r.joinAll(ctx); err != nil {
			return err
		}
	}
	r.began, r.now, r.counts = time.Now(), 0, true
	r.out.Began = r.began.Add(r.from)
	delayed, known := runDelay()
	defer func() { r.countRunDelay(delayed, known) }()
	r.order.running = true
	for i := range r.conns {
		c := &r.conns[i]
		if c.freeAt, c.again = 0, beforeAgain; c.asker != nil {
			c.again = 0
		}
		if c.at != waiting {
			r.order.add(c, &r.plan)
		}
	}
	for {
		r.clock()
		if ctx.Err() != nil {
			r.until = min(r.until, r.now)
		}
		if over, err := r.step(); over || err != nil {
			return err
		}
	}
}

// mostAtOnce are the requests that are sent before answers are looked for again. Where no answer is awaited,
// or the rate is too high, the next request may always be due.
const mostAtOnce = 64

// step sends what is due, and takes what came until the next is.
func (r *run) step() (over bool, err error) {
	for range mostAtOnce {
		c := r.order.first()
		if c == nil || c.readyAt > r.now || r.now >= r.until {
			break
		}
		r.order.remove(c)
		if err = r.goOnAsking(c); err != nil {
			return false, err
		}
		r.clock()
	}
	if r.flow != nil {
		r.flow.look(r)
	}
	if r.now >= r.until && (r.open == 0 || r.now >= r.until+min(r.plan.Timeout, longestWait)) {
		r.end()
		return true, nil
	}
	if err := r.take(); err != nil {
		return false, err
	}
	if r.now-r.checked > checkEvery {
		r.checked = r.now
		return false, r.giveUp()
	}
	return false, nil
}

const (
	checkEvery = 50 * time.Millisecond
	// longestWait is how long the last answers are awaited.
	longestWait = 2 * time.Second
	// beforeAgain is how long a connection that failed is away.
	beforeAgain = 200 * time.Millisecond
)
