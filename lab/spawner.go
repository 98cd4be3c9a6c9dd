package lab

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/vishvananda/netns"
)

// spawner runs functions on one OS thread that it owns, inside a network
// namespace. A child forked there is born in that namespace, and its parent
// death signal is tied to this thread (prctl(2) PR_SET_PDEATHSIG), which is why
// the thread must live as long as the stage.
type spawner struct {
	work chan job
	quit chan struct{} // closed when the stage ends; a fault may still be at work then
	done chan struct{}
}

type job struct {
	ns  string
	run func() error
	err chan error
}

func newSpawner() *spawner {
	p := &spawner{work: make(chan job), quit: make(chan struct{}), done: make(chan struct{})}
	go p.loop()
	return p
}

func (p *spawner) loop() {
	// Never unlocked: the thread may be left in a foreign namespace, and ends
	// with this goroutine.
	runtime.LockOSThread()
	defer close(p.done)
	for {
		select {
		case j := <-p.work:
			j.err <- p.do(j)
		case <-p.quit:
			return
		}
	}
}

func (p *spawner) do(j job) error {
	if j.ns == "" {
		return j.run()
	}
	home, err := netns.Get()
	if err != nil {
		return fmt.Errorf("lab: open the own network namespace: %w", err)
	}
	defer home.Close()
	there, err := netns.GetFromName(j.ns)
	if err != nil {
		return fmt.Errorf("lab: open network namespace %s: %w", j.ns, err)
	}
	defer there.Close()
	if err := netns.Set(there); err != nil {
		return fmt.Errorf("lab: enter network namespace %s: %w", j.ns, err)
	}
	err = j.run()
	if back := netns.Set(home); back != nil {
		return fmt.Errorf("lab: leave network namespace %s: %w", j.ns, back)
	}
	return err
}

// in runs f in the namespace; "" is the one the lab was started in.
func (p *spawner) in(ns string, f func() error) error {
	j := job{ns, f, make(chan error, 1)}
	select {
	case p.work <- j:
		return <-j.err
	case <-p.quit:
		return errors.New("lab: the stage has been closed")
	}
}

func (p *spawner) stop() {
	close(p.quit)
	<-p.done
}
