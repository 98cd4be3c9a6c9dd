package actor

import (
	"context"
	"errors"
	"flag"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

var loopServer = Actor{
	Name:  "loop-server",
	About: "answers requests one after another in one thread, as an event loop does: those that wait wait unread in the socket buffer at their sockets",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port")
		spin := f.Duration("spin", 0, "CPU time of a request")
		size := f.Int("size", 128, "bytes of a request and of its answer")
		task := f.Duration("task", 0, "CPU time of a task that the loop has besides, again and again")
		every := f.Duration("every", time.Second, "the task comes so often")
		journal := f.String("journal", "", "file to which each request is written and synced before its answer")
		heap := f.Int("heap", 0, "MiB of memory that requests use, page after page")
		file := f.String("file", "", "a new file that this memory is a mapping of, which requests read; without it the memory is the process's own")
		node := f.Int("node", -1, "NUMA node that its memory is taken from; -1 is any")
		fresh := f.Int("fresh", 0, "huge pages that a request takes new and gives back")
		pages := f.Int("pages", 1, "pages of it that a request touches")
		grow := f.Int("grow", 0, "KiB of memory that each request takes and nobody gives back")
		if err := parse(); err != nil {
			return err
		}
		l, err := listenTCP(*listen, 128)
		if err != nil {
			return err
		}
		s := loop{fds: []unix.PollFd{{Fd: int32(l), Events: unix.POLLIN}}, buf: make([]byte, *size), spin: *spin}
		if *journal != "" {
			j, err := os.OpenFile(*journal, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
			if err != nil {
				return err
			}
			defer j.Close()
			s.work = append(s.work, func() error { return write(j) })
		}
		if err := bindMemory(*node); err != nil {
			return err
		}
		if *fresh > 0 {
			s.work = append(s.work, func() error { return takeHuge(*fresh) })
		}
		if *heap > 0 {
			h, err := heapOf(*file, *heap<<20)
			if err != nil {
				return err
			}
			s.work = append(s.work, func() error { h.touch(*pages); return nil })
		}
		if *grow > 0 {
			s.work = append(s.work, func() error { newBallast(*grow << 10); return nil })
		}
		ready()
		for next := time.Now().Add(*every); ctx.Err() == nil; {
			if *task > 0 && time.Now().After(next) {
				burn(*task)
				next = time.Now().Add(around(*every))
			}
			if err := s.turn(); err != nil {
				return err
			}
		}
		return nil
	},
}

// heapOf is memory of that size: a mapping of a new file, or the process's own.
func heapOf(file string, size int) (*ballast, error) {
	if file != "" {
		return newMapped(file, size)
	}
	return newBallast(size), nil
}

// loop is one thread's sockets: the listener first, then the connections.
type loop struct {
	fds  []unix.PollFd
	buf  []byte
	spin time.Duration
	work []func() error // of each request, besides
}

// turn waits for what can be read and serves each of it once.
func (s *loop) turn() error {
	n, err := unix.Poll(s.fds, 100)
	if errors.Is(err, unix.EINTR) || err == nil && n == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	kept := s.fds[:1:1]
	for _, p := range s.fds[1:] {
		if p.Revents != 0 && !s.answer(int(p.Fd)) {
			unix.Close(int(p.Fd))
			continue
		}
		kept = append(kept, p)
	}
	if s.fds[0].Revents != 0 {
		c, _, err := unix.Accept4(int(s.fds[0].Fd), unix.SOCK_CLOEXEC)
		if err != nil {
			return err
		}
		kept = append(kept, unix.PollFd{Fd: int32(c), Events: unix.POLLIN})
	}
	s.fds = kept
	return nil
}

// answer serves one request; false when the peer is gone. Requests are small
// enough to come in one segment.
func (s *loop) answer(fd int) bool {
	n, err := unix.Read(fd, s.buf)
	if err != nil || n <= 0 {
		return false
	}
	burn(s.spin)
	for _, w := range s.work {
		if w() != nil {
			return false
		}
	}
	_, err = unix.Write(fd, s.buf[:n])
	return err == nil
}
