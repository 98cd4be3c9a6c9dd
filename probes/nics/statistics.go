package nics

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/nicstats"
	"snag/probes/probe"
	"snag/recording"
)

// mostCounted devices have their statistics read. A reading that took longer than
// slow is made every fifth second only: some drivers ask their firmware.
const (
	mostCounted = 32
	slow        = 2 * time.Millisecond
)

// statistics reads the drivers' own counters of hardware.
type statistics struct {
	env    *probe.Env
	ledger *ledger
	fd     int // a socket of the own namespace; 0: none yet
	of     map[device]*counters
	turn   int
}

// counters are those of one device.
type counters struct {
	device device
	labels recording.Labels
	arena  *arena
	n      int // statistics of the driver
	picks  []nicstats.Pick
	seen   []late
	slow   bool
	gone   bool
}

// measure learns which statistics each device has, and reads them.
func (s *statistics) measure(spaces []*space) error {
	s.forget(spaces)
	var own error
	for _, sp := range spaces {
		if len(sp.nics) == 0 {
			continue
		}
		err := sp.within(s.ledger, func() error {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return fmt.Errorf("open a socket to ask for statistics: %w", err)
			}
			if sp.Own && s.fd == 0 {
				s.fd = fd
			} else {
				defer unix.Close(fd)
			}
			return s.space(sp, fd)
		})
		if sp.Own {
			own = err
		} else if err != nil {
			_, why, cure := explain(err)
			s.ledger.note("nics.statistics", why, cure)
		}
	}
	return own
}

// forget lets go of the devices that are no longer there.
func (s *statistics) forget(spaces []*space) {
	there := map[device]bool{}
	for _, sp := range spaces {
		for _, d := range sp.nics {
			there[d] = true
		}
	}
	for d, c := range s.of {
		if !there[d] {
			c.arena.close()
			delete(s.of, d)
		}
	}
}

func (s *statistics) space(sp *space, fd int) error {
	var last error
	for _, d := range sp.nics {
		c := s.of[d]
		if c == nil && len(s.of) >= mostCounted {
			s.ledger.note("nics.statistics", fmt.Sprintf("of more than %d devices the statistics were not read", mostCounted), "")
			continue
		}
		if c == nil {
			c = &counters{device: d, labels: recording.Labels{"device": d.name}}
			if !sp.Own {
				c.labels["netns"] = strconv.FormatUint(sp.ID, 10)
				s.ledger.note("nics.statistics", "in other network namespaces statistics are read at both ends and every 15 s", "run snag inside the namespace: ip netns exec NAME snag find")
			}
			s.of[d] = c
		}
		c.gone = false // it is listed again: a driver that was reloaded
		if err := c.read(s.env, s.ledger, fd); err != nil {
			last = err
		}
	}
	return last
}

// own reads those of the own namespace, between scans.
func (s *statistics) own(recording.Time) error {
	s.turn++
	var last error
	for d, c := range s.of {
		if d.netns != s.env.Netns || c.gone || c.slow && s.turn%5 != 0 {
			continue
		}
		if err := c.read(s.env, s.ledger, s.fd); err != nil {
			last = err
		}
	}
	return last
}

func (s *statistics) close() {
	for _, c := range s.of {
		c.arena.close()
	}
	if s.fd > 0 {
		unix.Close(s.fd)
		s.fd = 0
	}
}

// read writes the picked statistics. That the interface has gone, or has none, is
// no error.
func (c *counters) read(env *probe.Env, l *ledger, fd int) error {
	began := time.Now()
	values, err := c.ask(l, fd)
	switch {
	case errors.Is(err, unix.ENODEV), errors.Is(err, unix.EOPNOTSUPP):
		c.gone = true
		return nil
	case err != nil:
		return fmt.Errorf("read the statistics of %s: %w", c.device.name, err)
	}
	c.slow = time.Since(began) > slow
	t := env.Now()
	for i, p := range c.picks {
		if n, ok := p.Of(values); ok {
			c.seen[i].sample(env.Sink, t, p.Metric, c.labels, float64(n), p.Always)
		}
	}
	return nil
}

// ask returns the values, after learning the names where the driver has another
// number of them than before: its queues were changed, or it was loaded anew.
func (c *counters) ask(l *ledger, fd int) ([]byte, error) {
	for range 3 {
		if c.arena == nil {
			a, err := newArena(4096)
			if err != nil {
				return nil, err
			}
			c.arena = a
		}
		n, err := c.arena.countStats(fd, c.device.name)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, unix.EOPNOTSUPP
		}
		if n != c.n {
			if err := c.learn(l, fd, n); err != nil {
				return nil, err
			}
		}
		values, same, err := c.arena.values(fd, c.device.name, n)
		if err != nil || same {
			return values, err
		}
		c.n = 0
	}
	return nil, errors.New("the number of statistics changes all the time")
}

func (c *counters) learn(l *ledger, fd, n int) error {
	c.arena.close()
	a, err := newArena(12 + n*nameSize)
	c.arena = a
	if err != nil {
		return err
	}
	names, err := a.names(fd, c.device.name, n)
	if err != nil {
		return err
	}
	left := 0
	c.n = n
	c.picks, left = nicstats.Choose(names)
	c.seen = make([]late, len(c.picks))
	if left > 0 {
		l.note("nics.statistics", fmt.Sprintf("%d statistics of %s are not recorded: too many queues", left, c.device.name), "ethtool -S "+c.device.name)
	}
	return nil
}
