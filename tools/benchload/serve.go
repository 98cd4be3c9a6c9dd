package main

import (
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"time"
)

// serving is what a server of this program does.
type serving struct {
	at, arrivals string
	sink         bool
	size, reply  int // bytes of a message and its answer
	parts        int // in so many writes an answer is sent
	nagle        bool
	takes        time.Duration
	workers      int // answer messages of all connections; 0: each connection has its own
	receive      int // SO_RCVBUF; 0: as the kernel has it
}

// serve runs a server until its input ends.
func serve(args []string) error {
	var s serving
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	f.StringVar(&s.at, "at", "", "the address to listen on")
	f.StringVar(&s.arrivals, "arrivals", "", "speak HTTP, and write when requests arrived to this file")
	f.BoolVar(&s.sink, "sink", false, "read what comes, and answer nothing")
	f.IntVar(&s.size, "size", 64, "bytes of a message")
	f.IntVar(&s.reply, "reply", 64, "bytes of an answer")
	f.IntVar(&s.parts, "parts", 1, "writes of an answer")
	f.BoolVar(&s.nagle, "nagle", false, "leave Nagle's algorithm on")
	f.DurationVar(&s.takes, "takes", 0, "how long an answer takes")
	f.IntVar(&s.workers, "workers", 0, "how many messages are worked on at a time; 0: all")
	f.IntVar(&s.receive, "rcvbuf", 0, "SO_RCVBUF, bytes")
	if err := f.Parse(args); err != nil {
		return err
	}
	l, err := s.listen()
	if err != nil {
		return err
	}
	if s.arrivals != "" {
		return serveArrivals(l, os.Stdin, s.arrivals)
	}
	pool := newPool(s.workers, s.takes)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.answer(c.(*net.TCPConn), pool)
		}
	}()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func (s *serving) answer(c *net.TCPConn, pool *pool) {
	defer c.Close()
	if s.sink {
		_, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{c}, make([]byte, 256<<10))
		return
	}
	if c.SetNoDelay(!s.nagle) != nil {
		return
	}
	message, answer := make([]byte, s.size), make([]byte, s.reply)
	for {
		if _, err := io.ReadFull(c, message); err != nil {
			return
		}
		pool.work()
		part := len(answer) / s.parts
		for i := range s.parts {
			end := (i + 1) * part
			if i == s.parts-1 {
				end = len(answer)
			}
			if _, err := c.Write(answer[i*part : end]); err != nil {
				return
			}
		}
	}
}

func (s *serving) listen() (net.Listener, error) {
	if s.at == "" || s.parts < 1 || s.size < 1 || s.reply < s.parts {
		return nil, errors.New("serve: give -at, and sizes of 1 byte or more for each write")
	}
	return listenWith(s.at, s.receive)
}
