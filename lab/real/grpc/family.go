// Package grpc draws incidents of a gRPC service in Python, which asks an upstream for each
// answer.
package grpc

import (
	_ "embed"
	"fmt"
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
	a := backend.NewApp(b, backend.AppSize{Workers: "workers", Least: 0.4, Most: 6, Capacity: 160, Own: 4 * time.Millisecond, Longest: 300 * time.Millisecond, Trips: 1},
		"upstream-refused", "--then", "refuse")
	a.Load.Conns = min(a.Load.Conns, 64)
	b.Values["connections"] = a.Load.Conns
	deadline := drawn.Pick(b.Draw, "deadline", 2.0, 5.0, 10.0)
	workers, rpcs := a.Enough(4, 3), 0
	switch {
	case a.BuiltWithFew("few-workers", ""):
		workers = a.Few
	case b.Built("few-rpcs"):
		rpcs = a.Few
		b.Amount("%d calls at a time where %.1f are under way on average", rpcs, a.Busy)
	case b.Fault.Name == "upstream-refused":
		b.Amount("the upstream is gone")
	}
	a.AmountOfLock("lock-held")
	a.Flagged("lock-held")
	p := b.Run(a.Server, "price-service", []string{pyclient.Python, b.File("server.py", server)},
		a.Env("LISTEN="+a.At(50051), fmt.Sprintf("WORKERS=%d", workers), fmt.Sprintf("RPCS=%d", rpcs))...)
	b.AwaitPrinted(p, "ready")
	pyclient.Start(b, a.Client, "price-client", "grpc_unary", a.At(50051), a.Load, fmt.Sprintf("size=%d", a.Load.Size), fmt.Sprintf("deadline=%g", deadline))
}
