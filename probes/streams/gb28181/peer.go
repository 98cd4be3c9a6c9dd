package gb28181

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"snag/probes/streams/stream"
)

// peer is the platform or device at one address: one registration and one socket serve
// its catalogue and all its cameras.
type peer struct {
	address Address
	conn    *conn
	local   netip.AddrPort
	timeout time.Duration

	mu      sync.Mutex
	user    *url.Userinfo
	count   uint64                  // of what needs a number of its own
	waiting map[string]*transaction // by branch
	acks    map[string]func()       // what is sent when an INVITE's final response comes again, by its Call-ID and CSeq
	dialogs map[string]*dialog      // by Call-ID
	parts   map[string]chan<- part  // of catalogues, by SN
	answers recent                  // to requests that may come again

	registering sync.Mutex // held while registered changes
	registered  registration

	gone chan struct{} // closed when the connection is
	why  error         // before it is
}

// open connects and registers.
func open(ctx context.Context, a Address, o stream.Options) (*peer, error) {
	c, err := dial(ctx, o.Netns, a, o.Timeout)
	if err != nil {
		return nil, err
	}
	p := &peer{
		address: a, conn: c, local: c.local(), timeout: o.Timeout, user: a.User,
		waiting: map[string]*transaction{}, acks: map[string]func(){}, dialogs: map[string]*dialog{}, parts: map[string]chan<- part{},
		gone: make(chan struct{}),
	}
	go p.run()
	if a.Register {
		if err := p.register(ctx, expires); err != nil {
			p.close()
			return nil, err
		}
		go p.stay(keepaliveEvery)
	}
	return p, nil
}

// run takes what comes until the connection ends.
func (p *peer) run() {
	err := p.conn.receive(p.take, p.refused)
	if errors.Is(err, errSIP) {
		err = fmt.Errorf("%w (is this its SIP port?)", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.why = err
	close(p.gone)
	for _, t := range p.waiting {
		t.fail(err)
	}
	for _, d := range p.dialogs {
		d.end("the SIP connection ended")
	}
	_ = p.conn.Close()
}

func (p *peer) close() { _ = p.conn.Close() }

// refused tells all that wait that nobody listens there.
func (p *peer) refused(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.waiting {
		t.fail(err)
	}
}

func (p *peer) expect(branch string, t *transaction) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gone:
		t.fail(p.why)
	default:
	}
	p.waiting[branch] = t
}

func (p *peer) forget(branch string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, branch)
}

// number is one that no other has of this peer.
func (p *peer) number() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	return p.count
}

// who is asked for by requests, until somebody says it.
func (p *peer) who() *url.Userinfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.user
}

// knows takes a user where there was none: the catalogue's credentials serve its
// cameras too, whichever of them asked first.
func (p *peer) knows(user *url.Userinfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.user == nil {
		p.user = user
	}
}
