// Package sip has calls through a proxy, kamailio, which asks another service for the route
// of each call and passes it to a gateway; caller and gateway are sipp.
package sip

import (
	_ "embed"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/real/backend"
)

// Family is the proxy with its callers.
var Family = drawn.Family{
	Name: "kamailio", Kind: drawn.Media, Origin: drawn.Real, Software: []string{"kamailio", "sipp"},
	Needs: []lab.Tool{lab.IP, {Command: "kamailio", Package: "kamailio"}, {Command: "sipp", Package: "sip-tester"}},
	Faults: []drawn.Fault{
		{Name: "gateway-stopped", Suspects: []string{"process-stopped", "slow-dependency"}, Subject: gateway, Account: "stopped"},
		{Name: "gateway-killed", Suspects: []string{"service-killed", "upstream-refused", "udp-port-closed"}, Subject: gateway, Account: "errors"},
		{Name: "route-slow", Suspects: []string{"slow-dependency", "worker-queue"}, Subject: routes + "|kamailio", Also: []string{"udp-receive-buffer-full"}, Account: "call"},
		{Name: "route-killed", Suspects: []string{"upstream-refused", "service-killed"}, Subject: routes, Account: "errors"},
		{Name: "route-errors", Suspects: []string{"error-answers"}, Subject: routes + "|kamailio", Account: "errors"},
		{Name: "too-few-workers", Suspects: []string{"worker-queue"}, Subject: `kamailio|:5060`, Also: []string{"slow-dependency", "udp-receive-buffer-full"}, Account: "in line", Whole: true},
		{Name: "call-limit", Suspects: []string{"connection-limit", "error-answers"}, Subject: `kamailio|:5060`, Account: "errors", Whole: true},
		{Name: "path-loss", Suspects: []string{"packet-loss"}, Subject: `10\.77\.|kamailio|sipp|wan-path|eth0`, Account: "loss"},
	},
	Build: build,
}

const (
	gateway = `sipp|10\.79\.2\.2|gateway`
	routes  = `call-routes|:8000`
	modules = "/usr/lib/x86_64-linux-gnu/kamailio/modules/"
)

//go:embed kamailio.cfg
var config string

//go:embed caller.xml
var caller string

//go:embed gateway.xml
var answers string

func build(b *drawn.Bench) {
	n := b.NetOver(true, "--loss", fmt.Sprint(b.LogUniform("lost of the packets", 0.01, 0.3)))
	gateways := b.Netns("gateways")
	b.Veth(lab.End{Netns: n.Server, Device: "eth1", Addr: "10.79.2.1/24"}, lab.End{Netns: gateways, Device: "eth0", Addr: "10.79.2.2/24"})
	if b.Fault.Name == "path-loss" {
		b.Amount("lost of the packets: %v, each way", b.Values["lost of the packets"])
	}
	b.Switch("path-loss", n.Break, n.Break)

	rate := b.LogUniform("calls per second", 8, 100)
	rings := b.Duration("it rings for", time.Millisecond, 300*time.Millisecond)
	argv := []string{"sipp", "-sf", b.File("gateway.xml", strings.ReplaceAll(answers, "RINGS", fmt.Sprint(rings.Milliseconds()))),
		"-i", "10.79.2.2", "-p", "5060", "-nostdin", "-skip_rlimit"}
	far := b.Supervised("gateway-killed", gateways, "gateway", 500*time.Millisecond, 4*time.Second, argv)
	b.AwaitPrinted(far, "started ")
	b.SwitchStops("gateway-stopped", far.Child(), 300*time.Millisecond, 4*time.Second)

	// So many workers wait for the route of a call at any moment.
	busy := b.LogUniform("workers that wait", 0.7, 4)
	wait := b.Duration("a route takes", time.Millisecond, 20*time.Millisecond)
	if b.Fault.Name == "too-few-workers" {
		wait = time.Duration(busy / rate * float64(time.Second))
	} else {
		busy = rate * wait.Seconds()
	}
	startRoutes(b, n.Server, wait)
	workers := int(math.Ceil(3*busy)) + b.Int("workers to spare", 2, 6)
	if b.Built("too-few-workers") {
		workers = max(1, int(0.7*busy))
		b.Amount("%d workers; %.1f wait for a route at any moment", workers, busy)
	}
	limit, most := 100_000, max(1, int(rate*b.Uniform("calls that are let in, of all", 0.3, 0.95)))
	if b.Built("call-limit") {
		limit = most
		b.Amount("%d calls per second are let in, of %.0f", limit, rate)
	}
	cfg := strings.NewReplacer("MODULES", modules, "ADDR", n.Addr, "WORKERS", fmt.Sprint(workers), "LIMIT", fmt.Sprint(limit)).Replace(config)
	b.Run(n.Server, "kamailio", []string{"kamailio", "-DD", "-E", "-f", b.File("kamailio.cfg", cfg), "-w", b.Dir(), "-Y", b.Dir(),
		"-P", filepath.Join(b.Dir(), "kamailio.pid"), "-m", "32", "-M", "4"})
	b.Await("kamailio to listen", 20*time.Second, func() (bool, error) {
		out, err := b.Output(n.Server, "ss", "-Hlun")
		return strings.Contains(out, ":5060"), err
	})

	talk := b.Duration("calls last", 10*time.Millisecond, 2*time.Second)
	log := filepath.Join(b.Dir(), "calls.log")
	b.Run(n.Client, "caller", []string{"sipp", n.At(5060), "-sf", b.File("caller.xml", strings.ReplaceAll(caller, "TALK", fmt.Sprint(talk.Milliseconds()))),
		"-i", n.ClientAddr, "-p", "5061", "-r", fmt.Sprint(int(rate * 10)), "-rp", "10000", "-l", "20000", "-nostdin", "-skip_rlimit",
		"-trace_logs", "-log_file", log}) // its rate is a whole number: of 10 s
	b.Actor("", "call-log", "call-log", []string{"--from", log, "--log", b.ClientLog("calls")})
}

// startRoutes starts who knows the routes.
func startRoutes(b *drawn.Bench, ns string, wait time.Duration) {
	backend.Lookup{
		Name: "route", Comm: "call-routes", Addr: "127.0.0.1:8000", Down: 500 * time.Millisecond, Statuses: []string{"500"},
		Wait: wait, Slow: b.Duration("a slow route takes", 100*time.Millisecond, 3*time.Second),
	}.Start(b, ns)
}
