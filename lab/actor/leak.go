package actor

import (
	"context"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// leak keeps descriptors of connections that ended while it is on, as a program does that
// forgets to close.
type leak struct {
	on   *atomic.Bool
	mu   sync.Mutex
	held []*os.File
}

// keep takes a second descriptor of a connection that is about to be closed.
func (l *leak) keep(c net.Conn) {
	tcp, ok := c.(*net.TCPConn)
	if !ok || !l.on.Load() {
		return
	}
	f, err := tcp.File()
	if err != nil {
		return // no descriptor is left: it has leaked them all
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = append(l.held, f)
}

// mend closes what was kept once the leak is off.
func (l *leak) mend(ctx context.Context) {
	for sleep(ctx, 20*time.Millisecond) {
		if l.on.Load() {
			continue
		}
		l.mu.Lock()
		for _, f := range l.held {
			f.Close()
		}
		l.held = nil
		l.mu.Unlock()
	}
}
