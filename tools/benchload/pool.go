package main

import (
	"context"
	"net"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pool works on so many messages at a time, each for the same time.
type pool struct {
	takes time.Duration
	asked chan chan struct{} // nil: there is no limit
}

func newPool(workers int, takes time.Duration) *pool {
	p := &pool{takes: takes}
	if workers == 0 {
		return p
	}
	p.asked = make(chan chan struct{})
	for range workers {
		go func() {
			// A thread of its own sleeps to a few µs; Go's timers are late by up to a millisecond.
			runtime.LockOSThread()
			_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
			for done := range p.asked {
				sleep(p.takes)
				done <- struct{}{}
			}
		}()
	}
	return p
}

func (p *pool) work() {
	if p.asked == nil {
		time.Sleep(p.takes)
		return
	}
	done := make(chan struct{}, 1)
	p.asked <- done
	<-done
}

func sleep(d time.Duration) {
	left := unix.NsecToTimespec(d.Nanoseconds())
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &left, &left) == unix.EINTR {
	}
}

// listenWith listens with a receive buffer: connections inherit it from the socket that listens.
func listenWith(at string, receive int) (net.Listener, error) {
	c := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		if receive == 0 {
			return nil
		}
		if e := raw.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, receive)
		}); e != nil {
			return e
		}
		return err
	}}
	return c.Listen(context.Background(), "tcp", at)
}
