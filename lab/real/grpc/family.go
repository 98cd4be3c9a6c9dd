// Package grpc draws incidents of a gRPC service in Python, which asks an upstream for each
// answer.
package grpc

import (
	_ "embed"
	"fmt"
	"math"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/backend"
)

//go:embed server.py
var server string

// Family is gRPC.
var Family = drawn.Family{
	Name: "grpc", Kind: drawn.RPC, Origin: drawn.Real, Software: []string{"gRPC"},
	Needs: []lab.Tool{lab.IP, {Command: "/usr/lib/python3/dist-packages/grpc/__init__.py", Package: "python3-grpcio"}},
	Faults: []drawn.Fault{
		{Name: "few-workers", Suspects: []string{"worker-queue"}, Subject: `price-service|:50051`, Account: "in line", Whole: true},
		{Name: "few-rpcs", Suspects: []string{"connection-limit", "error-answers"}, Subject: `price-service|:50051`, Account: "errors", Whole: true},
		{Name: "lock-held", Suspects: []string{"lock-convoy"}, Subject: `price-service|:50051`, Also: []string{"worker-queue"}, Account: "lock"},
		{Name: "slow-upstream", Suspects: []string{"slow-dependency"}, Subject: backend.Subject, Also: []string{"worker-queue"}, Account: "call"},
		{Name: "upstream-refused", Suspects: []string{"upstream-refused"}, Subject: backend.Subject, Also: []string{"error-answers", "peer-reset"}, Account: "errors"},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	net := b.Net()
	busy := b.LogUniform("busy workers", 0.4, 6)
	l := b.LoadOf(160)
	answer := time.Duration(min(300e6, max(2e6, busy/l.Rate*1e9)))
	busy = l.Rate * (answer + 4*time.Millisecond).Seconds()
	b.Values["answers take"] = answer.String()
	l = backend.Load(b, net, 160, answer, 1)
	l.Conns = min(l.Conns, 64)
	b.Values["connections"] = l.Conns
	slow := min(3*time.Second, time.Duration(float64(answer)*b.LogUniform("upstream gets slower", 2.5, 40)))
	deadline := drawn.Pick(b.Draw, "deadline", 2.0, 5.0, 10.0)
	then := "slow"
	if b.Fault.Name == "upstream-refused" {
		then = "refuse"
	}
	up := backend.Start(b, net.Server, answer, "--then", then, "--slow", slow.String())
	workers, rpcs := 4+int(math.Ceil(3*busy)), 0
	few := max(1, int(busy*b.Uniform("workers for the busy ones", 0.3, 0.95)))
	switch {
	case b.Built("few-workers"):
		workers = few
		b.Amount("%d workers where %.1f are busy on average", few, busy)
	case b.Built("few-rpcs"):
		rpcs = few
		b.Amount("%d calls at a time where %.1f are under way on average", few, busy)
	case b.Fault.Name == "slow-upstream":
		b.Amount("the upstream takes %v, not %v", slow, answer)
	case b.Fault.Name == "lock-held":
		b.Amount("a lock is held for %v in each of %.0f requests per second", answer, l.Rate)
	case b.Fault.Name == "upstream-refused":
		b.Amount("the upstream is gone")
	}
	flag := backend.NewFlag(b)
	b.Switch("lock-held", flag.On, flag.Off)
	b.Switch("slow-upstream", up.Toggle, up.Toggle)
	b.Switch("upstream-refused", up.Toggle, up.Toggle)
	p := b.Run(net.Server, "price-service", []string{pyclient.Python, b.File("server.py", server)}, lab.Env("LISTEN="+net.At(50051)), lab.Env("UPSTREAM="+up.Addr),
		lab.Env("FLAG="+flag.Path), lab.Env("FAULT="+b.Fault.Name), lab.Env(fmt.Sprintf("WORKERS=%d", workers)), lab.Env(fmt.Sprintf("RPCS=%d", rpcs)))
	b.AwaitPrinted(p, "ready")
	pyclient.Start(b, net.Client, "price-client", "grpc_unary", net.At(50051), l, fmt.Sprintf("size=%d", l.Size), fmt.Sprintf("deadline=%g", deadline))
}
