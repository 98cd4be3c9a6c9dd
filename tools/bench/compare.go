package main

import (
	"fmt"
	"slices"
	"time"
)

// load is something that is done as often as it can be, and how find is told to look
// at it.
type load struct {
	name  string
	start func() (*session, error)
	// target has find look at the load's own process closer, idle at another one, which
	// does nothing; none: find looks at the machine, and closer at whom it suspects.
	target, idle bool
}

// session is a load that has been started.
type session struct {
	pid int // that find may look at
	run func(time.Duration) (done, error)
	end func()
}

// done is what a load did in one window.
type done struct {
	rate float64 // operations per second of the clock
	cpu  float64 // of all processes of the load, µs per operation
}

var loads = []load{
	{name: "getppid loop, 1 thread", start: program("calls")},
	{name: "the same, find looks closer at another process", start: program("calls"), idle: true},
	{name: "the same, find looks closer at it", start: program("calls"), target: true},
	{name: "TCP ping-pong, 2 processes on one CPU", start: program("pingpong")},
	{name: "the same ping-pong, find looks closer at it", start: program("pingpong"), target: true},
	{name: "futex to and fro, 2 threads on one CPU", start: program("futex")},
	{name: "futex, a lock that 8 threads hand on", start: program("lock")},
	{name: "the same lock, find looks closer at it", start: program("lock"), target: true},
	{name: "nginx under wrk, keep-alive, 16 connections", start: nginx(true)},
	{name: "nginx under wrk, a new connection each request", start: nginx(false)},
	{name: "nginx under wrk, keep-alive, find looks closer at it", start: nginx(true), target: true},
	{name: "TCP connects, 1 process", start: inside(connects)},
	{name: "UDP datagrams of 1,200 B", start: inside(datagrams)},
	{name: "fork and exec of /bin/true", start: forks},
	{name: "redis-benchmark GET, 16 connections", start: redisAsks},
	{name: "pgbench, 8 connections that select", start: postgresSelects},
}

// head is of the table; the recorder looks closer only at an incident.
func head(command string) string {
	return fmt.Sprintf("| load | per second without | with snag %s | ratio (range) | CPU per operation without, µs | with | ratio (range) | looked closer at |\n|---|---|---|---|---|---|---|---|", command)
}

// compare runs the load with and without, in turn, and prints the medians.
func compare(l load, snag string, rounds int, window time.Duration, record bool) (string, error) {
	s, err := l.start()
	if err != nil {
		return "", err
	}
	defer s.end()
	if l.idle {
		other, err := program("idle")()
		if err != nil {
			return "", err
		}
		defer other.end()
		s.pid = other.pid
	}
	if !l.target && !l.idle {
		s.pid = 0
	}
	if _, err := s.run(time.Second); err != nil { // the first is slower
		return "", err
	}
	var bare, with []done
	closer := 0
	for round := range rounds {
		var a, b done
		n := 0
		one := func() (err error) { a, err = s.run(window); return err }
		two := func() (err error) { b, n, err = beside(s, snag, window); return err }
		if record {
			two = func() (err error) { b, err = besideRecord(s, snag, window); return err }
		}
		// First one, then the other: what drifts does not favour either.
		order := []func() error{one, two}
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, step := range order {
			if err := step(); err != nil {
				return "", err
			}
		}
		bare, with, closer = append(bare, a), append(with, b), max(closer, n)
	}
	rate := column(bare, with, func(d done) float64 { return d.rate })
	cpu := column(bare, with, func(d done) float64 { return d.cpu })
	return fmt.Sprintf("| %s | %s | %s | %d |", l.name, rate.text("%.0f"), cpu.text("%.3f"), closer), nil
}

// beside runs the load while find runs; closer is at how many processes it looked
// closer.
func beside(s *session, snag string, window time.Duration) (d done, closer int, err error) {
	f, err := startFind(snag, window, s.pid)
	if err != nil {
		return d, 0, err
	}
	d, err = s.run(window)
	closer, ended := f.end()
	if err == nil {
		err = ended
	}
	return d, closer, err
}

// besideRecord is the same with a recorder, which was there before.
func besideRecord(s *session, snag string, window time.Duration) (d done, err error) {
	end, err := startRecord(snag)
	if err != nil {
		return d, err
	}
	d, err = s.run(window)
	if ended := end(); err == nil {
		err = ended
	}
	return d, err
}

// figures are those of one column, in the order in which they were measured.
type figures struct{ bare, with []float64 }

func column(bare, with []done, of func(done) float64) (f figures) {
	for i := range bare {
		f.bare, f.with = append(f.bare, of(bare[i])), append(f.with, of(with[i]))
	}
	return f
}

// text has the medians, the median of the ratios of neighbours with its range, and
// whether that is within noise: the median with find lies between two runs without.
func (f figures) text(format string) string {
	var ratios []float64
	for i := range f.bare {
		ratios = append(ratios, f.with[i]/f.bare[i])
	}
	slices.Sort(ratios)
	a, b := median(f.bare), median(f.with)
	noise := ""
	if slices.Min(f.bare) <= b && b <= slices.Max(f.bare) {
		noise = ", within noise"
	}
	return fmt.Sprintf(format+" | "+format+" | %.3f (%.3f–%.3f)%s", a, b, median(ratios), ratios[0], ratios[len(ratios)-1], noise)
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}
