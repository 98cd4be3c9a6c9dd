package main

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// The host that is recorded: processes with a UDP socket each that sleep, and TCP
// connections of this process to itself, on some of which a message goes to and fro each
// second. That is 2,080 TCP sockets, 300 UDP sockets and 208 messages per second.
const (
	sleepers    = 300
	connections = 1040
	busy        = 104 // of those
)

type load struct {
	sleepers []*exec.Cmd
	conns    []net.Conn
	stop     chan struct{}
}

func startLoad() (l *load, err error) {
	l = &load{stop: make(chan struct{})}
	defer func() {
		if err != nil {
			l.end()
		}
	}()
	for range sleepers {
		if err := l.sleeper(); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	for range connections {
		here, err := net.Dial("tcp4", listener.Addr().String())
		if err != nil {
			return nil, err
		}
		l.conns = append(l.conns, here)
		there, err := listener.Accept()
		if err != nil {
			return nil, err
		}
		l.conns = append(l.conns, there)
	}
	go l.talk()
	return l, nil
}

// sleeper starts a process of one thread that holds a bound UDP socket, as most daemons of
// a host do.
func (l *load) sleeper() error {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	defer c.Close()
	f, err := c.File()
	if err != nil {
		return err
	}
	defer f.Close()
	cmd := exec.Command("sleep", "36000")
	cmd.ExtraFiles = []*os.File{f}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	l.sleepers = append(l.sleepers, cmd)
	return nil
}

// talk sends the messages until the connections are closed.
func (l *load) talk() {
	b := make([]byte, 400)
	send := func(from, to net.Conn, n int) error {
		_, err := from.Write(b[:n])
		if err == nil {
			_, err = io.ReadFull(to, b[:n])
		}
		return err
	}
	for {
		select {
		case <-l.stop:
			return
		case <-time.After(time.Second):
		}
		for i := 0; i < 2*busy; i += 2 {
			here, there := l.conns[i], l.conns[i+1]
			if errors.Join(send(here, there, 200), send(there, here, 400)) != nil {
				return
			}
		}
	}
}

func (l *load) end() {
	close(l.stop)
	for _, c := range l.conns {
		_ = c.Close()
	}
	for _, c := range l.sleepers {
		_ = c.Process.Kill()
	}
	for _, c := range l.sleepers {
		_ = c.Wait()
	}
}
