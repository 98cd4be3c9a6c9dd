package actor

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// listenerFD is where a worker finds the listening socket of its pool.
const listenerFD = 3

var workerPool = Actor{
	Name:  "worker-pool",
	About: "worker processes that share a listening socket, as gunicorn's do; they are killed, or asked to end and replaced, one after the other",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port")
		comm := f.String("worker", "", "name of the workers")
		workers := f.Int("workers", 3, "how many")
		wait := f.Duration("wait", 40*time.Millisecond, "an answer takes")
		size := f.Int("size", 128, "bytes of a request and of its answer")
		every := f.Duration("every", 0, "one of them ends this often; 0: none does")
		switched := f.Bool("switched", false, "none ends until SIGUSR1, which turns it on and off")
		kill := f.Bool("kill", false, "by SIGKILL, and is replaced afterwards; else its successor comes first, and it finishes what it has")
		failing := f.Duration("commands", 0, "a short command that fails is run this often; 0: none is")
		work := f.Bool("work", false, "is a worker of such a pool")
		if err := parse(); err != nil {
			return err
		}
		if *work {
			return workInPool(*wait, *size)
		}
		l, err := net.Listen("tcp4", *listen)
		if err != nil {
			return err
		}
		p := pool{args: []string{"actor", "worker-pool", "--work", "--comm", *comm, "--wait", wait.String(), "--size", strconv.Itoa(*size)}}
		if p.listener, err = l.(*net.TCPListener).File(); err != nil {
			return err
		}
		l.Close()
		runtime.LockOSThread() // the workers are killed when the thread ends that started them
		for range *workers {
			if err := p.start(ctx); err != nil {
				return err
			}
		}
		ending := toggled(!*switched)
		ready()
		next, command := time.Now().Add(*every), time.Now()
		for sleep(ctx, 20*time.Millisecond) {
			if *failing > 0 && time.Since(command) > *failing {
				command = time.Now()
				_ = exec.CommandContext(ctx, "sh", "-c", "exit 1").Run() // its status is what it is for
			}
			if !ending.isOn() {
				next = time.Now()
				continue
			}
			if *every > 0 && time.Now().After(next) {
				next = next.Add(*every)
				if err := p.replace(ctx, *kill); err != nil {
					return err
				}
			}
		}
		return nil
	},
}

type pool struct {
	args     []string
	listener *os.File
	workers  []*exec.Cmd // the oldest first
}

func (p *pool) start(ctx context.Context) error {
	c := exec.CommandContext(ctx, "/proc/self/exe", p.args...)
	c.Stderr, c.ExtraFiles = os.Stderr, []*os.File{p.listener}
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		return err
	}
	p.workers = append(p.workers, c)
	return nil
}

// replace ends the oldest worker and starts another.
func (p *pool) replace(ctx context.Context, kill bool) error {
	oldest := p.workers[0]
	p.workers = p.workers[1:]
	if kill {
		_ = oldest.Process.Kill()
		_ = oldest.Wait() // it was killed
		return p.start(ctx)
	}
	if err := p.start(ctx); err != nil {
		return err
	}
	sleep(ctx, 300*time.Millisecond) // until it serves
	_ = oldest.Process.Signal(syscall.SIGTERM)
	go func() { _ = oldest.Wait() }()
	return nil
}

// workInPool answers until it is asked to end, and then what it has in hand.
func workInPool(wait time.Duration, size int) error {
	f := os.NewFile(listenerFD, "listener "+strconv.Itoa(listenerFD))
	l, err := net.FileListener(f)
	if err != nil {
		return err
	}
	f.Close()
	end, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(end, func() { l.Close() })()
	var open sync.WaitGroup
	defer open.Wait()
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		open.Go(func() {
			defer c.Close()
			buf := make([]byte, size)
			for first := true; first || end.Err() == nil; first = false { // what was accepted is answered
				if _, err := io.ReadFull(c, buf); err != nil {
					return
				}
				time.Sleep(wait)
				if _, err := c.Write(buf); err != nil {
					return
				}
			}
		})
	}
}
