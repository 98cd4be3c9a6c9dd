package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The host that is recorded: processes with a UDP socket each that sleep, and processes
// with TCP connections to themselves, on some of which a message goes to and fro each
// second. That is 2,080 TCP sockets, 300 UDP sockets and 208 messages a second.
const (
	sleepers = 300
	talkers  = 13
	conns    = 80 // of a talker
	busy     = 8  // of those
)

const loadVariable = "BENCH_RECORD_LOAD"

// serveLoad is the life of a process that startLoad started; false in any other.
func serveLoad() bool {
	if os.Getenv(loadVariable) == "" {
		return false
	}
	if err := talk(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
	return true
}

// load is what runs on the host beside the recorders.
type load struct{ all []*exec.Cmd }

func startLoad() (*load, error) {
	l := &load{}
	for range sleepers {
		if err := l.sleeper(); err != nil {
			l.end()
			return nil, fmt.Errorf("start the load: %w", err)
		}
	}
	self, err := os.Executable()
	for range talkers {
		if err == nil {
			err = l.talker(self)
		}
	}
	if err != nil {
		l.end()
		return nil, fmt.Errorf("start the load: %w", err)
	}
	return l, nil
}

// sleeper is a process of one thread that holds a bound UDP socket, as most daemons of a
// host do: a program of Go's would have five threads.
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
	return l.start(cmd)
}

func (l *load) talker(self string) error {
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), loadVariable+"=1")
	ready, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = os.Stderr
	if err := l.start(cmd); err != nil {
		return err
	}
	if n, _ := ready.Read(make([]byte, 1)); n != 1 {
		return errors.New("a process with connections ended at its start")
	}
	return nil
}

func (l *load) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	l.all = append(l.all, cmd)
	return nil
}

func (l *load) end() {
	for _, c := range l.all {
		_ = c.Process.Kill()
	}
	for _, c := range l.all {
		_ = c.Wait()
	}
}

// talk holds the connections and sends the messages.
func talk() error {
	runtime.GOMAXPROCS(1)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var here, there [conns]int
	for i := range conns {
		if here[i], there[i], err = pair(listener); err != nil {
			return err
		}
	}
	fmt.Print("r")
	b := make([]byte, 4096)
	for range time.Tick(time.Second) {
		for i := range busy {
			err := errors.Join(send(here[i], there[i], b, 200), send(there[i], here[i], b, 400))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func send(from, to int, b []byte, n int) error {
	if _, err := unix.Write(from, b[:n]); err != nil {
		return err
	}
	_, err := unix.Read(to, b)
	return err
}

// pair is a connection as two blocking descriptors: nothing polls them.
func pair(l net.Listener) (a, b int, err error) {
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		return 0, 0, err
	}
	s, err := l.Accept()
	if err != nil {
		return 0, 0, err
	}
	if a, err = blocking(c); err != nil {
		return 0, 0, err
	}
	b, err = blocking(s)
	return a, b, err
}

func blocking(c net.Conn) (int, error) {
	f, err := c.(*net.TCPConn).File()
	if err != nil {
		return 0, err
	}
	defer f.Close()
	defer c.Close()
	fd, err := unix.Dup(int(f.Fd()))
	if err != nil {
		return 0, err
	}
	return fd, unix.SetNonblock(fd, false)
}
