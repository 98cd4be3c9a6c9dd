// Package anyserver has one service in five languages, for families of drawn incidents:
// the same requests, and the same faults, as each language's programs have them.
//
// It reads requests of a fixed size on any number of connections and answers as much. A
// pool of workers takes them, as is usual in each language: in C threads that wait at one
// epoll set, in Java a poller with an executor (as Tomcat), in Python a poller with a pool
// of threads (as gunicorn's gthread), in Go a goroutine for each connection with a
// semaphore, in Node an event loop with a limit of requests at work and a queue before it.
// In C, Java and Python a request that waits for a worker waits unread in its socket; in Go
// and Node it was read.
//
// The programs take LISTEN SIZE WORKERS WORK WAIT CONTROL [NAME=VALUE]..., times in
// microseconds; LISTEN is an address with port, or the path of a UNIX socket. A thread (in
// Node the loop) reads lines from the pipe CONTROL:
//
//	work N          CPU time of a request
//	wait N          time that it takes besides, without a CPU
//	hang 0|1        requests wait until "hang 0"
//	lock 0|1        each request holds the service's one lock from first to last
//	hold N EVERY s|w  housekeeping keeps that lock for N at a time, asleep or at work
//	spin 0|1        each request holds a lock that spins
//	stuck N         N threads spin for a lock that nobody gives back; 0: it is given back
//	close 0|1       answers at once, and closes with the request unread
//	leak 0|1        keeps a descriptor of each request
//	churn N         replaces N entries of its cache (live=) per second
//	scratch N       each request allocates so many bytes
//	block N EVERY   a task of that CPU time on the event loop, or in a worker, again and again
//	heavy N EVERY   one request of so many takes that much CPU time besides
//	grow N          each request takes so many bytes of memory that nobody gives back
//	die N           ends at once, with that status
//	limit N         answers a connection beyond N with the refusal (refusal=) and closes it
//	pool N          has N connections at most to the service that it calls
//	keep N          takes N connections of that pool, and keeps them until "keep 0"
package anyserver

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snag/lab"
	"snag/lab/drawn"
)

//go:embed c java script
var sources embed.FS

// Language of a server.
type Language string

// The languages.
const (
	C      Language = "C"
	Go     Language = "Go"
	Java   Language = "Java"
	Python Language = "Python"
	Node   Language = "Node"
)

// Languages are all of them.
var Languages = []Language{C, Go, Java, Python, Node}

// Needs are the tools for all languages.
var Needs = []lab.Tool{
	lab.IP,
	{Command: "cc", Package: "gcc"},
	{Command: "java", Package: "default-jdk-headless"},
	{Command: "javac", Package: "default-jdk-headless"},
	{Command: "node", Package: "nodejs"},
}

// LanguageOf draws the language of the program of that name, of those or of all.
func LanguageOf(b *drawn.Bench, name string, among ...Language) Language {
	if len(among) == 0 {
		among = Languages
	}
	return drawn.Pick(b.Draw, name+"'s language", among...)
}

// Options of a server.
type Options struct {
	Language   Language
	Workers    int
	Work, Wait time.Duration // CPU time of a request, and time besides
	Size       int           // bytes of a request and of its answer
	Call       string        // the service that each request asks first, address:port or a path
	Needs      bool          // a request is not answered, and its connection closed, where that call fails
	Pool       int           // connections to that service at most, which all share; 0: each worker has its own
	Limit      int           // connections of clients at most; 0: as many as come
	Refusal    string        // what one beyond them is answered
	Names      bool          // each request looks a name up
	Resolv     string        // its resolv.conf; "" is the host's
	Journal    string        // each request is written there and synced; where that fails, its connection is closed
	Echo       int           // bytes of the line that each request writes to the standard output
	Live       int           // Java: entries of 16 bytes that its cache holds
	JVM        []string      // flags, instead of a small heap with the serial collector
	Run        []lab.Option
	Through    []string                         // a command that starts it: its arguments come last
	Start      func(argv []string) *lab.Process // starts it, where Run alone does not: a supervisor
	Most       float64                          // requests per second at most, where less than the CPUs and workers allow
}

// Server is one that runs.
type Server struct {
	*lab.Process
	language Language
	bench    *drawn.Bench
	control  *os.File
}

// said lists what each language can be told besides allCan.
var said = map[Language][]string{
	C:      {"lock", "hold", "spin", "stuck", "close", "leak", "block", "heavy"},
	Go:     {"lock", "hold", "spin", "stuck"},
	Java:   {"lock", "hold", "spin", "stuck", "churn", "scratch", "block", "heavy"},
	Python: {"lock", "hold", "block", "heavy"},
	Node:   {"block", "heavy"},
}

// allCan is what every language can be told.
var allCan = []string{"work", "wait", "hang", "grow", "die", "limit", "pool", "keep"}

// Can lists the languages that can be told that.
func Can(word string) []Language {
	if slices.Contains(allCan, word) {
		return Languages
	}
	return slices.DeleteFunc(slices.Clone(Languages), func(l Language) bool { return !slices.Contains(said[l], word) })
}

// Start starts a server at an address with port, or a UNIX socket's path. Its process has
// that name in C and Go, and its runtime's in other languages, as services in them have.
func Start(b *drawn.Bench, ns, name, addr string, o Options) *Server {
	s := &Server{language: o.Language, bench: b}
	control := filepath.Join(b.Dir(), name+".control")
	if b.Err() == nil {
		err := unix.Mkfifo(control, 0o600)
		if err == nil {
			s.control, err = os.OpenFile(control, os.O_RDWR|unix.O_NONBLOCK, 0)
		}
		if err != nil {
			s.Process = b.Fail(name, fmt.Errorf("make the control pipe of %s: %w", name, err))
			return s
		}
	}
	args := []string{addr, fmt.Sprint(o.Size), fmt.Sprint(o.Workers), fmt.Sprint(o.Work.Microseconds()), fmt.Sprint(o.Wait.Microseconds()), control}
	for _, more := range []struct {
		is   bool
		text string
	}{{o.Call != "", "call=" + o.Call}, {o.Needs, "needs=1"}, {o.Pool > 0, fmt.Sprint("pool=", o.Pool)}, {o.Limit > 0, fmt.Sprint("limit=", o.Limit)}, {o.Refusal != "", "refusal=" + o.Refusal},
		{o.Names, "names=1"}, {o.Journal != "", "journal=" + o.Journal}, {o.Echo > 0, fmt.Sprint("echo=", o.Echo)}, {o.Live > 0, fmt.Sprint("live=", o.Live)}} {
		if more.is {
			args = append(args, more.text)
		}
	}
	argv, opts := program(b, name, o), o.Run
	if o.Language == Go {
		args = append([]string{"--"}, args...)
	}
	argv = slices.Concat(o.Through, argv, args)
	if o.Resolv != "" {
		argv = b.Resolving(o.Resolv, argv...)
	}
	if o.Start != nil {
		s.Process = o.Start(argv)
	} else {
		s.Process = b.Run(ns, name, argv, opts...)
	}
	b.AwaitPrinted(s.Process, "ready")
	return s
}

// Tell tells the server one of the lines above. Words that its language can't be told
// fail the run.
func (s *Server) Tell(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	word, _, _ := strings.Cut(line, " ")
	if !slices.Contains(Can(word), s.language) {
		s.bench.Fail(s.Name, fmt.Errorf("tell a server in %s %q: it can't be told that: see anyserver.Can", s.language, line))
	}
	if s.bench.Err() != nil {
		return
	}
	if _, err := fmt.Fprintln(s.control, line); err != nil {
		s.bench.Fail(s.Name, fmt.Errorf("tell %s %q: %w", s.Name, line, err))
	}
}

// Tells makes what a switched fault needs: it tells on, then off.
func (s *Server) Tells(on, off string) (func(), func()) {
	return func() { s.Tell("%s", on) }, func() { s.Tell("%s", off) }
}

// Repeats is Tells for a server that restarts and loses its settings: it sends on again at each
// interval. With an empty off it sends nothing at the end.
func (s *Server) Repeats(on, off string, every time.Duration) (func(), func()) {
	end := func() {}
	return func() {
			var ctx context.Context
			ctx, end = context.WithCancel(s.bench.Context())
			go func() {
				for ctx.Err() == nil {
					s.Tell("%s", on)
					select {
					case <-ctx.Done():
					case <-time.After(every):
					}
				}
			}()
		}, func() {
			end()
			if off != "" {
				s.Tell("%s", off)
			}
		}
}
