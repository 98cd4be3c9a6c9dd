package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	_ "embed"
)

const redisAt = "127.0.0.1:7104"

// redisServed is Redis' own count of commands.
var redisServed = regexp.MustCompile(`total_commands_processed:(\d+)`)

func redis() contest {
	count := func() (float64, error) {
		out, err := exec.Command("redis-cli", "-p", "7104", "info", "stats").Output()
		m := redisServed.FindSubmatch(out)
		if m == nil {
			return 0, errors.Join(errors.New("redis-cli printed no count of commands"), err)
		}
		return strconv.ParseFloat(string(m[1]), 64)
	}
	// cost compares a longer run with a shorter one, as costs does.
	cost := func(run func(ctx context.Context, b *bench, times int) (ran, error)) func(context.Context, *bench, *server) (figures, error) {
		return func(ctx context.Context, b *bench, _ *server) (figures, error) {
			var cpu, commands [2]float64
			for i, times := range []int{1, 4} {
				before, err := count()
				if err != nil {
					return nil, err
				}
				r, err := run(ctx, b, times)
				if err != nil {
					return nil, err
				}
				after, err := count()
				if err != nil {
					return nil, err
				}
				cpu[i], commands[i] = r.cpu.Seconds(), after-before
			}
			return figures{"CPU per request, µs": (cpu[1] - cpu[0]) / (commands[1] - commands[0]) * 1e6}, nil
		}
	}
	return contest{
		name: "Redis, saturated",
		server: func(ctx context.Context, b *bench) (*server, error) {
			return b.start(ctx, redisAt, func() error { return answers(redisAt) }, "redis-server", "--bind", "127.0.0.1", "--port", "7104", "--save", "", "--appendonly", "no", "--dir", b.o.out)
		},
		contenders: []contender{
			{"snag", cost(func(ctx context.Context, b *bench, times int) (ran, error) {
				_, r, err := b.load(ctx, "redis://"+redisAt, "--data", "GET key", "--rate", "max", "--conns", "16", "--for", (time.Duration(times) * 1500 * time.Millisecond).String())
				return r, err
			})},
			{"redis-benchmark", cost(func(ctx context.Context, b *bench, times int) (ran, error) {
				return b.program(ctx, b.clientCPU, "redis-benchmark", "-p", "7104", "-t", "get", "-c", "16", "-q", "--csv", "-n", strconv.Itoa(times*60_000))
			})},
		},
	}
}

//go:embed grpc_server.py
var grpcServer []byte

const grpcAt = "127.0.0.1:7105"

// grpcService is a real one: gRPC's C++ core under Python. arguments are the channel's, as NAME=NUMBER.
func grpcService(ctx context.Context, b *bench, arguments ...string) (*server, error) {
	script := filepath.Join(b.o.out, "grpc_server.py")
	if err := os.WriteFile(script, grpcServer, 0o644); err != nil {
		return nil, err
	}
	return b.start(ctx, grpcAt, func() error { return answers(grpcAt) }, append([]string{"python3", script, grpcAt}, arguments...)...)
}

const grpcMethod = "bench.Echo/Call"

const grpcProto = `syntax = "proto3";
package bench;
message Message { bytes body = 1; }
service Echo { rpc Call (Message) returns (Message); }
`

func grpcContest() contest {
	return contest{
		name:   "gRPC, saturated",
		server: func(ctx context.Context, b *bench) (*server, error) { return grpcService(ctx, b) },
		contenders: []contender{
			{"snag", func(ctx context.Context, b *bench, _ *server) (figures, error) {
				l, r, err := b.load(ctx, "grpc://"+grpcAt+"/"+grpcMethod, "--rate", "max", "--conns", "16", "--for", seconds(b))
				if err != nil {
					return nil, err
				}
				return figures{"requests/s": l.Rate, "CPU of all, s": r.cpu.Seconds()}, nil
			}},
			{"ghz", func(ctx context.Context, b *bench, _ *server) (figures, error) {
				proto := filepath.Join(b.o.out, "bench.proto")
				if err := os.WriteFile(proto, []byte(grpcProto), 0o644); err != nil {
					return nil, err
				}
				r, err := b.program(ctx, b.clientCPU, b.peer("ghz"), "--insecure", "--proto", proto, "--call", grpcMethod, "-d", "{}", "-c", "16", "--connections", "16", "-z", seconds(b), "-O", "json", grpcAt)
				if err != nil {
					return nil, err
				}
				var said struct{ RPS float64 }
				if err := json.Unmarshal(r.out, &said); err != nil {
					return nil, fmt.Errorf("read the JSON of ghz: %w", err)
				}
				return figures{"requests/s": said.RPS, "CPU of all, s": r.cpu.Seconds()}, nil
			}},
		},
	}
}
