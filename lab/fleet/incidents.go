package fleet

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"snag/lab"
)

// Incident is one thing that breaks at one host, and is noticed at others.
type Incident struct {
	Name  string
	Title string
	Want  Want
	Break func(*Fleet)
}

// Incidents in the order in which they are made.
var Incidents = []Incident{
	{"runtime-pause", "all threads of origin-3's JVM stop again and again", Want{"origin-3", []string{"runtime-pause"}, `java`}, func(f *Fleet) {
		pause := f.Duration("pauses last", 800*time.Millisecond, 4*time.Second)
		f.amount = fmt.Sprintf("all threads stop for %v, 1.5 s after the time before", pause)
		f.File("pauses", fmt.Sprint(pause.Milliseconds()))
	}},
	{"process-stopped", "a script stops origin-2's program again and again", Want{"origin-2", []string{"process-stopped"}, `playlist-srv`}, func(f *Fleet) {
		f.stops("playlist-srv", time.Second, 4*time.Second)
	}},
	{"reconnect-storm", "edges 4 to 6 are hung up on by origin-2's auth-srv and come back at once, so that the logins of the others wait", Want{"origin-2", []string{"reconnect-storm"}, `auth-srv|:9000`}, storm},
	{"listen-overflow", "edges 1 to 3 log in in bursts, for which the accept queue of origin-2's auth-srv is too short", Want{"origin-2", []string{"listen-overflow"}, `auth-srv|:9000`}, func(f *Fleet) {
		f.amount = fmt.Sprintf("a queue of 8 for bursts of %v from each of three edges", f.Values["logins at once"])
		for n := 1; n <= 3; n++ {
			f.Signal(f.procs[fmt.Sprintf("auth-cli-%d", n)], syscall.SIGUSR1)
		}
	}},
	{"slow-dependency", "the database of origin-3's program, which nobody records, takes long", Want{"", []string{"", "slow-dependency"}, database}, func(f *Fleet) {
		f.amount = fmt.Sprintf("a query takes %.0f ms more", 1000*f.Values["a slow query takes"].(float64))
		f.Signal(f.procs["db"], syscall.SIGUSR2)
	}},
	{"packet-loss", "the router before edge-6 loses packets", Want{"edge-6", []string{"packet-loss"}, `10\.90\.`}, func(f *Fleet) {
		share := f.Int("packets lost, of 1000", 40, 250)
		f.amount = fmt.Sprintf("%.1f %% of the packets to and from edge-6", float64(share)/10)
		f.Nft(f.Name("router"), fmt.Sprintf("table inet lossy { chain forward { type filter hook forward priority 0; numgen random mod 1000 < %d drop; }; }", share))
	}},
	{"upstream-refused", "origin-3's program is killed, and edges 4 to 6 are refused", Want{"origin-3", []string{"upstream-refused", "service-killed"}, `10\.90\.0\.13:8080|java`}, func(f *Fleet) {
		f.amount = "SIGKILL"
		f.Stop(f.procs["java"])
	}},
	{"encoder-stall", "a script stops the encoder again and again, and the players' stream freezes", Want{"encoder", []string{"process-stopped", "encoder-stall"}, `ffmpeg|publisher`}, func(f *Fleet) {
		f.stops("ffmpeg", 2*time.Second, 6*time.Second)
	}},
	{"cpu-throttled", "origin-3's program needs more CPU than its control group grants", Want{"origin-3", []string{"cpu-throttled"}, `origin-app|java`}, throttle},
	{"qdisc-drop", "a shaper at origin-2 drops what its short queue can't hold", Want{"origin-2", []string{"qdisc-drop", "bufferbloat"}, `eth0`}, shape},
}

// stops has a process stopped and let go again and again.
func (f *Fleet) stops(name string, shortest, longest time.Duration) {
	stop, run := f.Duration("stopped for", shortest, longest), f.Duration("goes on for", time.Second, 3*time.Second)
	f.amount = fmt.Sprintf("stopped for %v, again after %v", stop, run)
	pid := f.procs[name].PID
	script := f.Actor("", "freeze-script", "stopper", []string{"--pid", fmt.Sprint(pid), "--stop", stop.String(), "--run", run.String()}, lab.MayEnd())
	f.ended = append(f.ended, func() {
		f.Stop(script)
		_ = syscall.Kill(pid, syscall.SIGCONT) // it may be gone
	})
}

func storm(f *Fleet) {
	clients, pause := f.Int("connections of an edge", 20, 100), f.Duration("they come back after", time.Millisecond, 50*time.Millisecond)
	f.amount = fmt.Sprintf("%d connections from each of three edges, back after %v", clients, pause)
	for n := 4; n <= 6; n++ {
		p := f.actor(fmt.Sprintf("edge-%d", n), fmt.Sprintf("edge-relay-%d", n), "reconnecter", "--to", addr("origin-2")+":9000", "--clients", fmt.Sprint(clients),
			"--pause", pause.String(), "--calm", "20s")
		f.Pause(200 * time.Millisecond)
		f.Signal(p, syscall.SIGUSR1)
	}
}

// throttle grants the program a share of the CPU time that it took in the last seconds.
func throttle(f *Fleet) {
	before, err := cpuTime(f.procs["java"].PID)
	f.Pause(4 * time.Second)
	after, err2 := cpuTime(f.procs["java"].PID)
	if err := errors.Join(err, err2); err != nil {
		f.Fail("java", err)
		return
	}
	need := (after - before) / 4
	quota := max(0.01, need*f.Uniform("quota, of what is needed", 0.35, 0.7))
	f.amount = fmt.Sprintf("a quota of %.1f %% of a CPU for a need of %.1f %%", 100*quota, 100*need)
	group := f.Cgroup("origin-app", 0)
	if err := errors.Join(f.Err(), outweigh(group), enter(group.Path, f.procs["java"].PID), group.Limit(quota)); err != nil {
		f.Fail("java", err)
	}
}

// cpuTime is what a process has used, seconds (proc(5): utime and stime in clock ticks of 10 ms).
func cpuTime(pid int) (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseCPUTime(string(raw))
}

// shape lets through less than origin-2 sends.
func shape(f *Fleet) {
	wire, err := f.sent("origin-2", 4*time.Second)
	if err != nil {
		f.Fail("tc", err)
		return
	}
	rate, limit := wire*f.Uniform("rate of the shaper, of what is sent", 0.4, 0.8), f.Int("bytes that may wait", 6000, 30000)
	f.amount = fmt.Sprintf("%.0f kB/s, a queue of %d bytes, for %.0f kB/s", rate/1e3, limit, wire/1e3)
	f.Command(f.Name("origin-2"), "tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", fmt.Sprintf("%.0fbit", 8*rate), "burst", "3kb", "limit", fmt.Sprint(limit))
}

// sent is how many bytes a host sends per second.
func (f *Fleet) sent(host string, d time.Duration) (float64, error) {
	before, err := f.Counter(f.Name(host), "IpExt", "OutOctets")
	f.Pause(d)
	after, err2 := f.Counter(f.Name(host), "IpExt", "OutOctets")
	return float64(after-before) / d.Seconds(), errors.Join(err, err2)
}
