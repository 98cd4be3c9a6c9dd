package load

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// take takes what came until the next request can be sent.
func (r *run) take() error {
	if c := &r.conns[0]; r.plan.PingPong && c.at == waiting {
		return r.readUntilAnswered(c)
	}
	events, err := r.await()
	if err != nil {
		return fmt.Errorf("wait for the answers: %w", err)
	}
	for _, e := range events {
		if err := r.changed(e); err != nil {
			return err
		}
	}
	return nil
}

// spinFor is the part of a wait in which a thread that spins does not sleep: one that sleeps is woken some
// 50 µs after its time, and later where its CPU had gone to an idle state.
const spinFor = 100 * time.Microsecond

// await returns what changed until the next request can be sent.
func (r *run) await() ([]unix.EpollEvent, error) {
	began, until := r.now, r.now+r.nextWait()
	if d := until - began; r.dozes && d <= mostDoze {
		return r.doze(d)
	}
	for {
		sleep := until - r.now
		if r.plan.Spin {
			sleep -= spinFor
		}
		events, err := r.poll.wait(sleep)
		r.clock()
		if err != nil || len(events) > 0 || r.now >= until || !r.plan.Spin {
			r.waited += r.now - began
			return events, err
		}
	}
}

func (r *run) nextWait() time.Duration {
	d := checkEvery
	if r.plan.Client != nil && r.asked == 0 { // nothing can be late
		d = whileIdle
	}
	if c := r.order.first(); c != nil && r.now < r.until {
		d = min(d, c.readyAt-r.now)
	}
	return d
}

// readUntilAnswered reads the one connection of a ping-pong again and again. It gives up after a while, so that
// the run can end and its connection can be given up.
func (r *run) readUntilAnswered(c *conn) error {
	began := r.now
	for c.at == waiting && r.now-began < checkEvery {
		if err := r.read(c, false); err != nil {
			return err
		}
		r.clock()
	}
	r.waited += r.now - began
	return nil
}

// awaitRoom waits for the rest of a request that the socket did not take.
func (r *run) awaitRoom(c *conn) error {
	if !c.datagrams || c.room {
		return nil
	}
	c.room = true
	return r.poll.addRoom(c.fd, r.indexOf(c))
}
