package load

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	out        *Result

	leaving  []*conn   // connections that the other side ends, and over which answers are still to come (leave.go)
	sessions []session // of each connection; nil: they are none
	flow     *flowing  // nil: requests are asked, and no bandwidth
	taken    int64     // requests that the kernel took whole
	logins   *logins   // nil: the protocol has none
	loginErr error     // the first one
	address  string    // the numeric form of to
}

// Run asks until the plan's time is over or ctx is done; what came until then is returned.
func Run(ctx context.Context, p Plan) (*Result, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	r := &run{plan: p, buf: make([]byte, 256<<10), from: p.Warm, until: p.Warm + p.For,
		out: &Result{Plan: p, Lost: map[Kind]int64{}, FromDue: newHistogram(), FromSent: newHistogram(), Lag: newHistogram()}}
	if p.Bandwidth > 0 {
		r.flow = &flowing{}
	}
	if err := r.resolve(ctx); err != nil {
		return nil, err
	}
	r.out.Address = r.address
	if err := DescriptorsFor(p.Conns); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with it, and its timer's slack
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
	if r.poll, err = newPoller(); err != nil {
		return err
	}
	defer r.poll.close()
	r.conns = make([]conn, r.plan.Conns)
	if r.plan.Sessions {
		r.sessions = newSessions(r.plan.Conns)
	}
	for i := range r.conns {
		r.conns[i] = conn{fd: -1, next: int64(i), heapAt: -1}
	}
	defer r.closeAll()
	if with, ok := r.plan.Target.Protocol.(protocol.Login); ok {
		if r.logins, err = newLogins(ctx, r, with); err != nil {
			return err
		}
		defer r.logins.end()
	}
	if err := r.joinAll(ctx); err != nil {
		return err
	}
	r.began, r.now, r.counts = time.Now(), 0, true
	r.out.Began = r.began.Add(r.from)
	delayed, known := runDelay()
	defer func() { r.countRunDelay(delayed, known) }()
	r.order.running = true
	for i := range r.conns {
		c := &r.conns[i]
		c.freeAt, c.again = 0, beforeAgain
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
		if c.at == away {
			err = r.join(c)
		} else {
			err = r.ask(c)
		}
		if err != nil {
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

// ask sends the next request of a connection that is free.
func (r *run) ask(c *conn) error {
	if c.several != nil {
		return r.askOneMore(c)
	}
	c.piece, c.wrote = 0, 0
	c.request = c.talk.Ask(c.next)
	r.begin(c, &c.openRequest)
	c.at = asking
	return r.goOn(c)
}

// begin notes that the next request of a connection is sent now.
func (r *run) begin(c *conn, q *openRequest) {
	q.due = r.plan.due(c.next)
	q.readyAt, q.sent = max(q.due, c.freeAt), r.now
	if r.plan.Rate == 0 {
		q.due = q.readyAt
	}
	if q.counts(r) {
		r.out.Sent++
		r.second.Sent++
		note(r.out.Lag, q.sent-q.readyAt)
	}
	r.openChanged(1)
}

// goOn writes what is left of a request.
func (r *run) goOn(c *conn) error {
	whole, err := c.write()
	switch {
	case err != nil:
		return r.failed(c, kindOf(err))
	case !whole:
		return r.awaitRoom(c)
	}
	c.at = waiting
	r.taken++
	if s, ok := c.talk.(protocol.Silent); ok && s.Silent() { // it is done when it was taken
		r.clock()
		r.answered(c, 0)
	}
	return nil
}

// counts reports whether the request is one of those that are measured: by when it was sent. Of a
// service that is overloaded those that are sent in the window were due long before it.
func (q *openRequest) counts(r *run) bool { return q.sent >= r.from && q.sent < r.until }

func (r *run) answered(c *conn, failed int) {
	r.finish(c, &c.openRequest, failed)
	r.isFree(c)
}

// finish notes the answer of a request.
func (r *run) finish(c *conn, q *openRequest, failed int) {
	if c.base == nil {
		r.firstAnswer(c)
	}
	if r.now >= r.from && r.now < r.until {
		r.out.Answers++
		r.out.growth.add(r.now.Seconds(), (r.now - q.due).Seconds())
	}
	if r.sessions != nil {
		r.sessions[r.indexOf(c)].answered(r, q)
	}
	if q.counts(r) {
		r.out.Done++
		r.out.Failed += int64(failed)
		note(r.out.FromDue, r.now-q.due)
		if r.plan.Deadline > 0 && r.now-q.due > r.plan.Deadline {
			r.out.Late++
		}
		note(r.out.FromSent, r.now-q.sent)
		r.took(q, failed)
	}
	r.openChanged(-1)
}

func (r *run) isFree(c *conn) {
	c.at, c.freeAt = free, r.now
	c.next += int64(len(r.conns))
	r.order.add(c, &r.plan)
}

// openChanged keeps the area under the number of open requests, of the time that counts.
func (r *run) openChanged(by int) {
	r.openUntil(r.now)
	r.open += by
}

func (r *run) openUntil(at time.Duration) {
	from, to := max(r.opened, r.from), min(at, r.until)
	if to > from {
		area := float64(r.open) * (to - from).Seconds()
		r.area += area
		r.secondArea += area
	}
	r.opened = at
}

// changed takes what came on a connection.
func (r *run) changed(e unix.EpollEvent) error {
	if e.Fd == wakeNumber {
		for _, d := range r.logins.take() {
			if err := r.loggedIn(d); err != nil {
				return err
			}
		}
		return nil
	}
	c := r.numbered(int(e.Fd))
	if c == nil {
		return nil
	}
	switch c.at {
	case away:
		return nil
	case joining:
		return r.joined(c)
	case asking:
		if err := r.goOn(c); err != nil || c.at == away {
			return err
		}
	}
	if e.Events&unix.EPOLLOUT != 0 {
		if err := r.sendReply(c); err != nil || c.at == away {
			return err
		}
	}
	if e.Events&(unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) == 0 {
		return nil
	}
	return r.read(c, e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP) != 0)
}

// read takes what came. ended: the other side ended the connection, which no further event will say.
func (r *run) read(c *conn, ended bool) error {
	for c.at != away {
		n, err := c.receive(r.buf)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, io.EOF):
			return r.ended(c)
		case err != nil:
			return r.failed(c, kindOf(err))
		}
		r.clock()
		r.plan.Options.quick(c.fd)
		if err := r.came(c, r.buf[:n]); err != nil || c.at == away {
			return err
		}
		if err := r.sendReply(c); err != nil {
			return err
		}
		if !c.datagrams && c.top == nil && !ended && n < len(r.buf) { // a short read of a stream was all there is (epoll(7))
			return nil
		}
	}
	return nil
}

// came takes what a connection received.
func (r *run) came(c *conn, b []byte) error {
	got, err := c.talk.Read(b)
	if c.several != nil {
		return r.cameForSeveral(c, got, err)
	}
	r.out.Unasked += int64(got.Stale)
	if got.Done > 0 && c.at == waiting {
		r.answered(c, min(got.Failed, 1))
		got.Done--
	}
	r.out.Unasked += int64(got.Done)
	switch {
	case errors.Is(err, protocol.ErrGoing):
		return r.failed(c, Closed)
	case err != nil:
		return r.failed(c, NoProtocol)
	case got.Last && c.at == free:
		r.out.Closed++
		return r.anew(c)
	}
	return nil
}

// ended takes the end of a connection, and of an answer that ends with it.
func (r *run) ended(c *conn) error {
	if p, ok := c.talk.(protocol.Ender); ok && c.at == waiting {
		if got := p.End(); got.Done > 0 {
			r.clock()
			r.answered(c, got.Failed)
			r.out.Closed++
			return r.anew(c)
		}
	}
	return r.failed(c, Closed)
}

// anew has a connection made again at once.
func (r *run) anew(c *conn) error {
	if err := r.failed(c, Closed); err != nil {
		return err
	}
	if c.again = r.now; r.order.running {
		r.order.remove(c)
		r.order.add(c, &r.plan)
	}
	return nil
}

// sendReply sends what the protocol itself has to say, never within a request.
func (r *run) sendReply(c *conn) error {
	if p, ok := c.talk.(protocol.Replier); ok {
		c.reply = append(c.reply, p.Reply()...)
	}
	if c.wire != nil {
		if err := c.wire.flush(); err != nil {
			return r.failed(c, kindOf(err))
		}
	}
	for len(c.reply) > 0 && c.at != asking {
		n, err := c.send(c.reply)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return r.failed(c, kindOf(err))
		}
		c.reply = c.reply[n:]
	}
	if c.several != nil {
		return r.settle(c)
	}
	return nil
}

// end books what is left.
func (r *run) end() {
	r.openChanged(0)
	r.out.Open = r.area / (r.until - r.from).Seconds()
	r.out.Took = r.until - r.from
	r.out.Busy = 1 - r.waited.Seconds()/r.now.Seconds()
	r.out.CPU = threadCPU() - r.spent
	if r.flow != nil {
		r.out.Flow = r.flow.of(r.plan)
	}
	if r.sessions != nil {
		r.unanswered()
	}
	for i := range r.conns {
		c := &r.conns[i]
		switch {
		case c.several != nil:
			r.loseOpen(c, NoAnswer)
		case (c.at == asking || c.at == waiting) && c.counts(r):
			r.lose(NoAnswer)
			c.next += int64(len(r.conns))
		}
		if r.plan.Rate == 0 {
			continue
		}
		if r.plan.Times != nil {
			r.out.Behind += r.plan.Times.before(r.until, c.next, r.plan.Conns)
			continue
		}
		if last := int64(r.until.Seconds() * r.plan.Rate); c.next < last {
			r.out.Behind += (last - c.next + int64(len(r.conns)) - 1) / int64(len(r.conns))
		}
	}
	for _, c := range r.leaving {
		if c != nil {
			r.loseOpen(c, NoAnswer)
		}
	}
	if r.now > r.from+r.second.Began {
		r.endSecond(r.now)
	}
	if r.sessions != nil {
		r.out.Sessions = sessionsOf(r.sessions, r.out)
	}
}
