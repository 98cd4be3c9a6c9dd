// Package benchmark has benchmarks that use the machine to capacity, each waiting for its
// own answers: nobody is to blame for a CPU that is busy with what it was asked.
package benchmark

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/healthy/site"
	"snag/lab/pyclient"
)

// Wrk loads nginx as much as it answers. The client with the log is one more of its kind.
var Wrk = drawn.Family{
	Name: "benchmark-wrk", Kind: drawn.Proxy, Origin: drawn.Healthy, Software: []string{"nginx", "wrk"}, Alone: true,
	Needs: site.WebNeeds(lab.Tool{Command: "wrk", Package: "wrk"}), Build: func(b *drawn.Bench) {
		s := site.WebOn(b, site.Near(b))
		threads := b.Int("threads of wrk", 1, 4)
		b.Run(s.Client, "wrk", []string{
			"wrk", "-t", fmt.Sprint(threads), "-c", fmt.Sprint(max(threads, b.Int("connections of wrk", 2, 256))), "-d", "280s", "--timeout", "20s", "http://" + s.At(80) + "/page",
		})
		b.Values["open loop"] = false
		pyclient.Start(b, s.Client, "wrk-latency", "pages", s.At(80), drawn.Load{Conns: b.Int("clients", 1, 4), Rate: 50}, "path=/page")
	},
}

// Redis is redis-benchmark at full rate.
var Redis = drawn.Family{
	Name: "benchmark-redis", Kind: drawn.Cache, Origin: drawn.Healthy, Software: []string{"Redis", "redis-benchmark"}, Alone: true,
	Needs: []lab.Tool{lab.IP, site.Redis, site.Python, {Command: "redis-benchmark", Package: "redis-tools"}}, Build: func(b *drawn.Bench) {
		s := site.RedisAt(b, site.Near(b))
		b.Run(s.Client, "redis-benchmark", []string{
			"redis-benchmark", "-h", s.Addr, "-q", "-l", "-n", "100000", "-t", drawn.Pick(b.Draw, "test", "get", "set", "set,get,incr", "lpush,lpop"),
			"-c", fmt.Sprint(b.Int("connections of the benchmark", 1, 256)), "-d", fmt.Sprint(b.Int("bytes", 3, 4096)), "-P", fmt.Sprint(b.Int("pipeline", 1, 32)),
		})
	},
}

// Datagrams is iperf3 over UDP at a rate that its receiver takes.
var Datagrams = drawn.Family{
	Name: "benchmark-udp", Kind: drawn.Packets, Origin: drawn.Healthy, Software: []string{"iperf3"}, Alone: true,
	Needs: []lab.Tool{lab.IP, {Command: "iperf3", Package: "iperf3"}}, Build: func(b *drawn.Bench) {
		net := site.Near(b)
		server := b.Run(net.Server, "iperf3-server", []string{"iperf3", "-s", "-B", net.Addr, "-i", "0.1", "--forceflush"})
		b.Await("iperf3 to listen", 10*time.Second, b.Listens(net.Server, ":5201"))
		size := b.Int("bytes of a datagram", 200, 1400)
		rate := b.LogUniform("datagrams per second", 100, 1500)
		b.Run(net.Client, "iperf3", []string{
			"iperf3", "-c", net.Addr, "-u", "-b", fmt.Sprintf("%.0f", rate*float64(8*size)), "-l", fmt.Sprint(size), "-t", "280", "-i", "10",
		})
		follow(b, server, b.ClientLog("iperf3"))
	},
}

// interval is a line of iperf3's server: seconds, lost and all datagrams of a tenth.
var interval = regexp.MustCompile(`sec .* ms +(\d+)/(\d+) \(`)

// follow writes what iperf3's server prints as a client's log, until the run ends.
func follow(b *drawn.Bench, server *lab.Process, path string) {
	if b.Err() != nil {
		return
	}
	out, err := os.Create(path)
	if err != nil {
		b.Fail("iperf3's log", err)
		return
	}
	in, err := os.Open(server.Output)
	if err != nil {
		b.Fail("iperf3's output", err)
		return
	}
	go func() {
		defer in.Close()
		defer out.Close()
		for r, line := bufio.NewReader(in), ""; b.Context().Err() == nil; {
			part, err := r.ReadString('\n')
			if line += part; err != nil {
				if _, gone := os.Stat(path); gone != nil { // the stage has ended
					return
				}
				time.Sleep(20 * time.Millisecond)
				continue
			}
			if m := interval.FindStringSubmatch(line); m != nil {
				lost, _ := strconv.Atoi(m[1])
				all, _ := strconv.Atoi(m[2])
				now := time.Now().UnixNano()
				fmt.Fprintf(out, "s %d %d\nd %d %d\n", now, all, now, all-lost)
			}
			line = ""
		}
	}()
}

// Disk is fio, which writes and syncs, beside a web server that reads nothing from disk.
var Disk = drawn.Family{
	Name: "benchmark-disk", Kind: drawn.Host, Origin: drawn.Healthy, Software: []string{"fio", "nginx"}, Alone: true, Noisy: true,
	Needs: site.WebNeeds(lab.Tool{Command: "fio", Package: "fio"}), Build: func(b *drawn.Bench) {
		s := site.Web(b, "open_file_cache max=100;")
		dir := site.Folder(b, "fio")
		if b.Noise() {
			b.Run("", "fio", []string{
				"fio", "--name=bench", "--directory=" + dir, "--rw=" + drawn.Pick(b.Draw, "fio does", "randwrite", "write", "randrw"), "--size=64M",
				fmt.Sprintf("--bs=%dk", b.Int("KiB of a write", 4, 512)), fmt.Sprintf("--fsync=%d", b.Int("writes per fsync", 1, 64)),
				fmt.Sprintf("--numjobs=%d", b.Int("jobs", 1, 4)), "--time_based", "--runtime=280", "--output=" + dir + "/report",
			})
		}
		s.Browse(b)
	},
}
