package syscalls

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain is also the traced programs.
func TestMain(m *testing.M) {
	if mode := os.Getenv("SYSCALLS_PROGRAM"); mode != "" {
		perform(mode)
		return
	}
	os.Exit(m.Run())
}

// Known numbers of calls.
const (
	getppids = 12345
	reads    = 2000
	readSize = 4096
	badFDs   = 321
	empties  = 555
	writes   = 777
	children = 2000

	manyThreads = 2000
)

var modes = map[string]func(line string){
	"fixed":   func(string) { fixed() },
	"block":   func(string) { block() },
	"forks":   func(string) { forks() },
	"stall":   stall,
	"quiet":   func(string) {},
	"serve":   serve,
	"threads": func(string) { manyThreadsCall() },
}

func perform(mode string) {
	in := bufio.NewScanner(os.Stdin)
	fmt.Println("ready")
	for in.Scan() {
		modes[mode](in.Text())
		fmt.Println("done")
	}
}

// fixed makes a known number of calls, in three threads.
func fixed() {
	var all sync.WaitGroup
	for _, f := range []func(){
		func() {
			for range getppids {
				unix.Getppid()
			}
			for range badFDs {
				_, _ = unix.Write(-1, []byte("x"))
			}
		},
		func() {
			fd, err := unix.Open("/dev/zero", unix.O_RDONLY, 0)
			if err != nil {
				panic(err)
			}
			b := make([]byte, readSize)
			for range reads {
				_, _ = unix.Read(fd, b)
			}
			unix.Close(fd)
		},
		func() {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
			if err != nil {
				panic(err)
			}
			b := make([]byte, 100)
			for range empties {
				_, _, _ = unix.Recvfrom(pair[0], b, 0)
			}
			for range writes {
				_ = unix.Sendto(pair[1], b[:10], 0, nil)
				_, _, _ = unix.Recvfrom(pair[0], b, 0)
			}
		},
	} {
		all.Add(1)
		go func() { defer all.Done(); f() }()
	}
	all.Wait()
}

// block leaves a thread in a read that never returns.
func block() {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		panic(err)
	}
	go func() { _, _ = unix.Read(pair[0], make([]byte, 10)) }()
	time.Sleep(50 * time.Millisecond)
}

// forks makes children that end at once, a few at a time.
func forks() {
	for range children / 10 {
		var some []*exec.Cmd
		for range 10 {
			c := exec.Command("/bin/true")
			if c.Start() == nil {
				some = append(some, c)
			}
		}
		for _, c := range some {
			_ = c.Wait()
		}
	}
}

// stall calls for so long, and tells its longest gap between two calls.
func stall(line string) {
	d, err := time.ParseDuration(strings.TrimSpace(line))
	if err != nil {
		panic(err)
	}
	var worst, last time.Duration
	began := time.Now()
	for last < d {
		unix.Getppid()
		now := time.Since(began)
		worst = max(worst, now-last)
		last = now
	}
	fmt.Println(worst)
}

// serve answers HTTP requests at an address.
func serve(address string) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		panic(err)
	}
	go func() {
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "answer") }))
	}()
}

// manyThreadsCall has thousands of threads at a time, each with calls of its own.
func manyThreadsCall() {
	var all, there sync.WaitGroup
	there.Add(manyThreads)
	for range manyThreads {
		all.Add(1)
		go func() {
			defer all.Done()
			runtime.LockOSThread() // and not unlocked: the thread ends
			there.Done()
			there.Wait()
			for range 10 {
				unix.Gettid()
			}
		}()
	}
	all.Wait()
}
