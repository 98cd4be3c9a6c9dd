// Goroutines that share a connection to a backend, or wait for work: convoy MODE BACKEND.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

var (
	mu      sync.Mutex
	backend net.Conn
	counter int
)

//go:noinline
func askBackend(b []byte) {
	if _, err := backend.Write(b); err != nil {
		os.Exit(0)
	}
	if _, err := io.ReadFull(backend, b); err != nil {
		os.Exit(0)
	}
}

//go:noinline
func handle(b []byte) {
	mu.Lock()
	askBackend(b)
	mu.Unlock()
}

//go:noinline
func briefly() {
	mu.Lock()
	counter++
	mu.Unlock()
	time.Sleep(2 * time.Millisecond)
}

// spent is the CPU time of the program.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func main() {
	mode := os.Args[1]
	work := make(chan int)
	if mode == "shared" {
		c, err := net.Dial("tcp", os.Args[2])
		if err != nil {
			panic(err)
		}
		backend = c
	}
	for i := 0; i < 8 && mode != "stats"; i++ {
		go func() {
			b := make([]byte, 1)
			for {
				switch mode {
				case "shared":
					handle(b)
				case "brief":
					briefly()
				case "spin":
					mu.Lock()
					counter++
					mu.Unlock()
				case "collect":
					runtime.GC()
					time.Sleep(20 * time.Millisecond)
				default:
					<-work
				}
			}
		}()
	}
	if mode == "pool" {
		go func() {
			for i := 0; ; i++ {
				work <- i
				time.Sleep(time.Millisecond)
			}
		}()
	}
	fmt.Println("ready")
	if mode == "stats" {
		// While it is looked at: CPU time of a call that stops the world.
		time.Sleep(1500 * time.Millisecond)
		cpu, n := spent(), 0
		var m runtime.MemStats
		for end := time.Now().Add(time.Second); time.Now().Before(end); n++ {
			runtime.ReadMemStats(&m)
		}
		fmt.Printf("ns %f\n", float64(spent()-cpu)/float64(n))
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}
