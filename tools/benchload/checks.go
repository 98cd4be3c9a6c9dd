package main

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const shapeAt = "127.0.0.1:7108"

// sweepFlags are of the sweeps that look for Nagle's algorithm: each connection is asked every 40 ms at 250 requests
// per second.
var sweepFlags = []string{"--rate", "10..2k", "--for", "1s", "--size", "100", "--reply", "100"}

// split are requests in two writes.
var split = []string{"--split", "20,80"}

// own starts a server of this program.
func own(flags ...string) func(context.Context, *bench) (*server, error) {
	return func(ctx context.Context, b *bench) (*server, error) {
		argv := append([]string{b.self, "serve", "-at", shapeAt, "-size", "100", "-reply", "100"}, flags...)
		return b.start(ctx, shapeAt, func() error { return answers(shapeAt) }, argv...)
	}
}

// nagle is a sweep whose finding is to be freed by that option; "": it is to find nothing.
func nagle(name, freedBy string, start func(context.Context, *bench) (*server, error), flags ...string) check {
	return delays(name, freedBy, false, start, flags)
}

// limited is a control of a service, or a generator, that has a limit among the rates: to find it is right.
func limited(name string, start func(context.Context, *bench) (*server, error), flags ...string) check {
	return delays(name, "", true, start, flags)
}

func delays(name, freedBy string, limited bool, start func(context.Context, *bench) (*server, error), flags []string) check {
	is := "nothing is found"
	if freedBy != "" {
		is = "found: " + freedBy + " frees it"
	}
	return check{name: name, is: is, run: func(ctx context.Context, b *bench) (checked, error) {
		s, err := start(ctx, b)
		if err != nil {
			return checked{}, err
		}
		defer s.end()
		return b.sweep(ctx, "tcp://"+s.at, freedBy, limited, append(append([]string{}, sweepFlags...), flags...))
	}}
}

func (b *bench) sweep(ctx context.Context, target, freedBy string, limited bool, flags []string) (checked, error) {
	l, _, err := b.load(ctx, target, flags...)
	if err != nil {
		return checked{}, err
	}
	if l.Reading == nil {
		return checked{}, fmt.Errorf("snag load printed no reading of the sweep")
	}
	out := checked{Detail: strings.Join(l.Reading.Sentences, " ")}
	if l.Reading.right(freedBy, limited) {
		out.Value = 1
	}
	return out, nil
}

// lossy drops every fiftieth packet to the service, by a rule of nftables in this namespace.
func lossy(ctx context.Context, b *bench) (*server, error) {
	rules := "table inet benchload { chain arriving { type filter hook input priority 0; policy accept; tcp dport 7108 numgen inc mod 50 0 drop; }; }"
	if out, err := exec.CommandContext(ctx, "nft", rules).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("nft: %w: %s", err, out)
	}
	s, err := own()(ctx, b)
	if err != nil {
		unloss()
		return nil, err
	}
	s.after = unloss
	return s, nil
}

func unloss() { _ = exec.Command("nft", "delete", "table", "inet", "benchload").Run() }

// busy has programs that only compute beside the generator, on its CPU.
func busy(ctx context.Context, b *bench) (*server, error) {
	s, err := own()(ctx, b)
	if err != nil {
		return nil, err
	}
	for range 6 {
		spinner := *b
		spinner.serverCPU = b.clientCPU
		o, err := spinner.start(ctx, "", func() error { return nil }, "sh", "-c", "while :; do :; done")
		if err != nil {
			s.end()
			return nil, err
		}
		s.also = append(s.also, o)
	}
	return s, nil
}

// realGRPC asks a real service of gRPC, whose messages must not be found to be delayed.
func realGRPC(name string, arguments ...string) check {
	return check{name: name, is: "nothing is found", run: func(ctx context.Context, b *bench) (checked, error) {
		s, err := grpcService(ctx, b, arguments...)
		if err != nil {
			return checked{}, err
		}
		defer s.end()
		return b.sweep(ctx, "grpc://"+s.at+"/"+grpcMethod, "", true, []string{"--rate", "10..1k", "--for", "1s"})
	}}
}

const workTakes = 20 * time.Millisecond

// knee is a pool of workers, whose number a sweep is to find.
func knee(workers int) check {
	most := float64(workers) / workTakes.Seconds()
	return check{name: fmt.Sprintf("a pool of %d workers", workers), is: "their number within 15 %", within: 0.15, run: func(ctx context.Context, b *bench) (checked, error) {
		s, err := own("-workers", strconv.Itoa(workers), "-takes", workTakes.String())(ctx, b)
		if err != nil {
			return checked{}, err
		}
		defer s.end()
		l, _, err := b.load(ctx, "tcp://"+s.at, "--rate", fmt.Sprintf("%.0f..%.0f", most/10, 4*most), "--conns", "64", "--for", "1s", "--size", "100", "--reply", "100")
		if err != nil {
			return checked{}, err
		}
		if l.Reading == nil || l.Reading.Knee == nil {
			return checked{Detail: "no limit was found"}, nil
		}
		k := l.Reading.Knee
		return checked{k.Workers / float64(workers), fmt.Sprintf("%.2f workers of %d; at most %.0f answers/s of %.0f", k.Workers, workers, k.Most, most)}, nil
	}}
}

// session is the load of sessions, of which the service answers half: the wait grows by what the arithmetic of its
// workers says.
func session() check {
	const workers, conns, every, takes = 8, 100, 320 * time.Millisecond, 50 * time.Millisecond
	due, most := conns/every.Seconds(), workers/takes.Seconds()
	truth := 1 - most/due
	return check{name: "sessions that queue", is: "the growth of the wait within 15 %", within: 0.15, run: func(ctx context.Context, b *bench) (checked, error) {
		s, err := own("-size", "10240", "-workers", strconv.Itoa(workers), "-takes", takes.String())(ctx, b)
		if err != nil {
			return checked{}, err
		}
		defer s.end()
		l, _, err := b.load(ctx, "tcp://"+s.at, "--conns", strconv.Itoa(conns), "--every", every.String(), "--size", "10240", "--reply", "100", "--deadline", "500ms", "--for", "10s")
		if err != nil {
			return checked{}, err
		}
		return checked{l.Growth / truth, fmt.Sprintf("each second adds %.3f s to the wait; %.3f by snag's arithmetic, %.3f by that of the workers", l.Growth, l.Predicted, truth)}, nil
	}}
}

// right reports whether a value is what it should be.
func (c check) right(v checked) bool { return math.Abs(v.Value-1) <= c.within }
