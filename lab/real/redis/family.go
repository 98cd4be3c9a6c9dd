// Package redis draws incidents of Redis, whose clients are redis-py's.
package redis

import (
	"fmt"
	"strings"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
)

const subject = `redis|:6379`

// Family draws a Redis server.
var Family = drawn.Family{
	Name: "redis", Kind: drawn.Cache, Origin: drawn.Real, Software: []string{"Redis", "redis-py"},
	Needs: []lab.Tool{lab.IP, lab.Losetup, lab.Mkfs, {Command: "redis-server", Package: "redis-server"}, {Command: "redis-cli", Package: "redis-tools"}, {Command: pyclient.Python, Package: "python3-redis"}},
	Faults: []drawn.Fault{
		{Name: "slow-command", Suspects: []string{"busy-thread"}, Subject: subject + `|report-job`, Also: []string{"slow-dependency"}, Account: "work"},
		{Name: "maxmemory", Suspects: []string{"error-answers"}, Subject: subject, Account: "errors"},
		{Name: "maxclients", Suspects: []string{"connection-limit"}, Subject: subject + `|leaky-app`, Also: []string{"error-answers"}, Account: "errors"},
		{Name: "slow-disk", Suspects: []string{"disk-stall"}, Subject: subject + `|loop|vd|sd|nvme|/data|slow`, Also: []string{"busy-thread", "slow-dependency"}, Account: "disk"},
		{Name: "stopped", Suspects: []string{"process-stopped"}, Subject: subject, Also: []string{"slow-dependency"}, Account: "stopped"},
		{Name: "cpu-quota", Suspects: []string{"cpu-throttled"}, Subject: subject + `|-cache`, Also: []string{"slow-dependency"}, Account: "quota"},
		{Name: "packet-loss", Suspects: []string{"packet-loss"}, Subject: `redis|:6379|cart-app|10\.77\.`, Also: []string{"slow-dependency"}, Account: "loss"},
	},
	Build: build,
}

// commands that take long, from another client; {n} is the number of keys or members.
var commands = map[string][]string{
	"KEYS":   {"KEYS *nothing*"},
	"LRANGE": {`EVAL "for i=1,{n} do redis.call('RPUSH','log','entry'..i) end" 0`, "LRANGE log 0 -1"},
	"SORT":   {`EVAL "for i=1,{n} do redis.call('SADD','scores',(i*7919)%1000003) end" 0`, "SORT scores LIMIT 0 10"},
	"script": {`EVAL "for i=1,{n}*10 do end" 0`},
	"sleep":  {"DEBUG SLEEP 0.{n}"},
}

func build(b *drawn.Bench) {
	net := b.NetOver(b.Fault.Name == "packet-loss", "--loss", fmt.Sprint(b.LogUniform("packets lost", 0.01, 0.2)))
	dir := b.Dir()
	cpu, disk := b.Cgroup("cache", 0), b.SlowDisk("slow", 0)
	in := lab.In(cpu)
	if b.Fault.Name == "slow-disk" {
		dir = b.Volume("data", 128).Mount
		in = lab.In(disk)
	}
	sync := drawn.Pick(b.Draw, "appendfsync", "always", "always", "everysec")
	argv := []string{"redis-server", "--port", "6379", "--bind", net.Addr, "--protected-mode", "no", "--save", "", "--dir", dir, "--appendfsync", sync, "--enable-debug-command", "yes"}
	if b.Fault.Name == "slow-disk" || b.Chance("append-only file", 0.3) {
		argv = append(argv, "--appendonly", "yes")
	}
	keys := b.Int("keys", 1000, 400_000)
	server := b.Run(net.Server, "redis-server", argv, in)
	do := func(words ...string) {
		b.Command(net.Server, append([]string{"redis-cli", "-h", net.Addr}, words...)...)
	}
	b.Await("Redis to answer", 10*time.Second, b.Listens(net.Server, ":6379"))
	do("DEBUG", "POPULATE", fmt.Sprint(keys), "key", "64")

	l := b.LoadOf(800)
	if b.Fault.Name == "cpu-quota" { // the least quota is 1 % of a CPU
		l.Rate = max(l.Rate, b.Uniform("requests per second, where there is a quota", 150, 400))
		l.Conns = max(l.Conns, 2)
	}
	if l.Fresh = b.Chance("a connection for each request", 0.2) || b.Fault.Name == "maxclients"; l.Fresh {
		l.Rate, l.Conns = min(l.Rate, 150), min(l.Conns, 100)
	}
	writes := b.Uniform("share of writes", 0.1, 0.9)
	pyclient.Start(b, net.Client, "cart-app", "redis", net.At(6379), l, fmt.Sprintf("keys=%d", keys), fmt.Sprintf("writes=%.3f", writes), fmt.Sprintf("size=%d", l.Size),
		fmt.Sprintf("timeout=%.1f", b.LogUniform("clients give up after s", 0.5, 10)))

	command := drawn.Pick(b.Draw, "slow command", "KEYS", "LRANGE", "SORT", "script", "sleep")
	every := b.Duration("slow commands every", 20*time.Millisecond, time.Second)
	pyclient.SwitchSessions(b, "slow-command", net.Client, "report-job", pyclient.Sessions{Protocol: "redis", To: net.At(6379), Every: every, Do: statements(command, keys)})
	b.Switch("maxmemory", func() { do("CONFIG", "SET", "maxmemory", "1mb") }, func() { do("CONFIG", "SET", "maxmemory", "0") })
	most := b.Int("maxclients", 110, 400)
	do("CONFIG", "SET", "maxclients", fmt.Sprint(most))
	pyclient.SwitchSessions(b, "maxclients", net.Client, "leaky-app", pyclient.Sessions{Protocol: "redis", To: net.At(6379), Conns: most, Do: []string{"PING"}})
	b.SwitchWrites("slow-disk", disk, int(b.LogUniform("disk's writes, of what is needed", 0.1, 1)*l.Rate*writes*float64(4096+l.Size)))
	b.SwitchStops("stopped", server.PID, 300*time.Millisecond, 5*time.Second)
	b.SwitchQuota("cpu-quota", cpu, b.LogUniform("quota", 0.01, 0.03))
	b.Switch("packet-loss", net.Break, net.Break)
	switch b.Fault.Name {
	case "slow-command":
		b.Amount("%s on %d keys, %v from one to the next", command, keys, every)
	case "packet-loss":
		b.Amount("%.1f %% of the packets lost each way", 100*b.Values["packets lost"].(float64))
	}
}

// statements are a slow command with what prepares it.
func statements(command string, keys int) []string {
	var out []string
	for _, s := range commands[command] {
		n := max(keys, 20_000)
		if command == "sleep" {
			n = 100 + keys%300 // ms: thousandths after "0."
		}
		out = append(out, strings.ReplaceAll(s, "{n}", fmt.Sprint(n)))
	}
	return out
}
