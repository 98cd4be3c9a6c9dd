package main

import (
	"io"
	"net"
	"syscall"
	"time"
)

// ownCPU is what this process has used so far.
func ownCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of oneself: can't fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func pair() (a, b net.Conn, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if a, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	if b, err = l.Accept(); err != nil {
		a.Close()
	}
	return a, b, err
}

// bulk counts writes of 64 KiB.
func bulk(window time.Duration) (n float64, err error) {
	a, b, err := pair()
	if err != nil {
		return 0, err
	}
	got := make(chan error)
	go func() {
		_, err := io.Copy(io.Discard, b)
		b.Close()
		got <- err
	}()
	buf := make([]byte, 64<<10)
	for end := time.Now().Add(window); err == nil && time.Now().Before(end); n++ {
		_, err = a.Write(buf)
	}
	a.Close()
	if e := <-got; err == nil {
		err = e
	}
	return n, err
}

func datagrams(window time.Duration) (n float64, err error) {
	l, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return 0, err
	}
	defer l.Close()
	go func() {
		buf := make([]byte, 2048)
		for {
			if _, err := l.Read(buf); err != nil {
				return
			}
		}
	}()
	c, err := net.Dial("udp", l.LocalAddr().String())
	if err != nil {
		return 0, err
	}
	defer c.Close()
	buf := make([]byte, 1200)
	for end := time.Now().Add(window); err == nil && time.Now().Before(end); n++ {
		_, err = c.Write(buf)
	}
	return n, err
}

func connects(window time.Duration) (n float64, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	buf := make([]byte, 1)
	for end := time.Now().Add(window); time.Now().Before(end); n++ {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			return n, err
		}
		_, _ = c.Read(buf) // EOF: the server closed first, so that TIME-WAIT is on its port
		c.Close()
	}
	return n, nil
}
