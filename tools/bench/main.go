// Command bench measures what snag find costs the host that it watches: a load
// on loopback with and without it, in turn; and its own start, memory and CPU.
// It prints Markdown rows. Machines are shared and noisy: read the ratios.
//
//	go run ./tools/bench -snag bin/snag
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sort"
	"syscall"
	"time"
)

func main() {
	snag := flag.String("snag", "bin/snag", "the binary to measure")
	rounds := flag.Int("rounds", 5, "how often each load runs with and without")
	window := flag.Duration("for", 5*time.Second, "length of each run")
	flag.Parse()
	fmt.Println("| what | without | with snag find | ratio |\n|---|---|---|---|")
	for _, l := range []struct {
		name string
		run  func(time.Duration) float64
	}{
		{"TCP ping-pong on loopback, round trips/s", pingPong},
		{"TCP bulk on loopback, 64 KiB writes, MB/s", bulk},
		{"UDP datagrams on loopback, 1,200 B, sent/s", datagrams},
		{"TCP connects on loopback, connections/s", connects},
	} {
		compare(l.name, l.run, *snag, *rounds, *window)
	}
	own(*snag, *window)
}

// compare runs the load with and without, in turn, and prints the medians.
func compare(name string, load func(time.Duration) float64, snag string, rounds int, window time.Duration) {
	var with, without, ratios []float64
	for range rounds {
		a := load(window)
		stop := start(snag, window+5*time.Second)
		b := load(window)
		stop()
		without, with, ratios = append(without, a), append(with, b), append(ratios, b/a)
	}
	sort.Float64s(ratios)
	fmt.Printf("| %s | %.0f | %.0f | %.3f (%.3f–%.3f) |\n", name, median(without), median(with), median(ratios), ratios[0], ratios[len(ratios)-1])
}

func median(v []float64) float64 {
	s := append([]float64(nil), v...)
	sort.Float64s(s)
	return s[len(s)/2]
}

// start runs snag find until stop is called.
func start(snag string, window time.Duration) (stop func()) {
	dir := must(os.MkdirTemp("", "snag-bench"))
	cmd := exec.Command(snag, "find", "--quiet", "--json", "--for", window.String(), "--out", dir+"/r")
	check(cmd.Start())
	time.Sleep(time.Second) // its probes are up
	return func() {
		check(cmd.Process.Signal(os.Interrupt)) // ends the recording and judges
		judged(cmd.Wait())
		check(os.RemoveAll(dir))
	}
}

// own prints snag's own start, memory, CPU and recording size under a ping-pong.
func own(snag string, window time.Duration) {
	go pingPong(window + 2*time.Second)
	dir := must(os.MkdirTemp("", "snag-bench"))
	defer os.RemoveAll(dir)
	cmd := exec.Command(snag, "find", "--quiet", "--json", "--for", window.String(), "--out", dir+"/r")
	var out bytes.Buffer
	cmd.Stdout = &out
	began := time.Now()
	judged(cmd.Run())
	wall := time.Since(began)
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	var doc struct {
		Coverage []struct {
			Probe string  `json:"probe"`
			Since string  `json:"since"`
			Cost  float64 `json:"cost_cpu_seconds"`
		} `json:"coverage"`
		Window struct{ Start, End string } `json:"window"`
	}
	check(json.Unmarshal(out.Bytes(), &doc))
	latest := began
	for _, c := range doc.Coverage {
		if t, err := time.Parse(time.RFC3339Nano, c.Since); err == nil && t.After(latest) {
			latest = t
		}
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	fmt.Printf("\n| snag find --for %s itself | |\n|---|---|\n", window)
	fmt.Printf("| start: from exec to the last probe measuring | %.2f s |\n", latest.Sub(began).Seconds())
	fmt.Printf("| end: from the window's end to the verdict, start included | %.2f s |\n", (wall - window).Seconds())
	fmt.Printf("| peak memory | %.0f MB |\n", float64(usage.Maxrss)/1024)
	fmt.Printf("| CPU, all of it | %.2f s = %.1f %% of a core |\n", cpu.Seconds(), 100*cpu.Seconds()/wall.Seconds())
	for _, c := range doc.Coverage {
		if c.Cost > 0 {
			fmt.Printf("| CPU of %s | %.3f s = %.2f %% of a core |\n", c.Probe, c.Cost, 100*c.Cost/window.Seconds())
		}
	}
}

func pair() (net.Conn, net.Conn) {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	a := must(net.Dial("tcp", l.Addr().String()))
	return a, must(l.Accept())
}

func pingPong(window time.Duration) float64 {
	a, b := pair()
	defer a.Close()
	go func() {
		defer b.Close()
		io.Copy(b, b) // ends with the other side
	}()
	buf := make([]byte, 64)
	n := 0
	for end := time.Now().Add(window); time.Now().Before(end); n++ {
		must(a.Write(buf))
		must(io.ReadFull(a, buf))
	}
	return float64(n) / window.Seconds()
}

func bulk(window time.Duration) float64 {
	a, b := pair()
	got := make(chan int64)
	go func() {
		n, _ := io.Copy(io.Discard, b)
		b.Close()
		got <- n
	}()
	buf := make([]byte, 64<<10)
	for end := time.Now().Add(window); time.Now().Before(end); {
		must(a.Write(buf))
	}
	a.Close()
	return float64(<-got) / 1e6 / window.Seconds()
}

func datagrams(window time.Duration) float64 {
	l := must(net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}))
	defer l.Close()
	go func() {
		buf := make([]byte, 2048)
		for {
			if _, err := l.Read(buf); err != nil {
				return
			}
		}
	}()
	c := must(net.Dial("udp", l.LocalAddr().String()))
	defer c.Close()
	buf := make([]byte, 1200)
	n := 0
	for end := time.Now().Add(window); time.Now().Before(end); n++ {
		must(c.Write(buf))
	}
	return float64(n) / window.Seconds()
}

func connects(window time.Duration) float64 {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
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
	n := 0
	buf := make([]byte, 1)
	for end := time.Now().Add(window); time.Now().Before(end); n++ {
		c := must(net.Dial("tcp", l.Addr().String()))
		c.Read(buf) // EOF: the server closed first, so that TIME-WAIT is on its port
		c.Close()
	}
	return float64(n) / window.Seconds()
}

// judged: a culprit found is a success here.
func judged(err error) {
	var e *exec.ExitError
	if errors.As(err, &e) && e.ExitCode() == 10 {
		return
	}
	check(err)
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
