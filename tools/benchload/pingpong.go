package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// messageSize is of the ping-pong, bytes: what sockperf sends with -m.
const messageSize = 64

// sockperfMessage is one as sockperf's client sends it in a ping-pong (class MsgHeader in src/message.h): a number,
// the flags of a client that wants an answer, and the length. Its server answers only such.
func sockperfMessage(size int) []byte {
	b := make([]byte, size)
	binary.BigEndian.PutUint64(b, 1)
	binary.BigEndian.PutUint16(b[8:], 1|2)
	binary.BigEndian.PutUint32(b[10:], uint32(size))
	return b
}

func pingPong(network string) contest {
	c := contest{name: "ping-pong over " + network, server: sockperfServer(network)}
	c.contenders = []contender{
		{"snag", func(ctx context.Context, b *bench, s *server) (figures, error) {
			message := filepath.Join(b.o.out, "sockperf.message")
			if err := os.WriteFile(message, sockperfMessage(messageSize), 0o644); err != nil {
				return nil, err
			}
			l, _, err := b.load(ctx, network+"://"+s.at, "--pingpong", "--data", "@"+message, "--for", seconds(b))
			if err != nil {
				return nil, err
			}
			if l.SinceSent == nil {
				return nil, fmt.Errorf("sockperf's server did not answer snag")
			}
			return figures{"p50, µs": l.SinceSent.P50 * 1e6, "p99, µs": l.SinceSent.P99 * 1e6}, nil
		}},
		{"sockperf", sockperf(network)},
		{"sockperf --nonblocked", sockperf(network, "--nonblocked")},
	}
	return c
}

func sockperfServer(network string) func(context.Context, *bench) (*server, error) {
	return func(ctx context.Context, b *bench) (*server, error) {
		const port = "7101"
		argv := []string{b.peer("sockperf"), "server", "-i", "127.0.0.1", "-p", port}
		ready := func() error { return bound("udp", "127.0.0.1:"+port) }
		if network == "tcp" {
			argv = append(argv, "--tcp")
			ready = func() error { return answers("127.0.0.1:" + port) }
		}
		return b.start(ctx, "127.0.0.1:"+port, ready, argv...)
	}
}

// answers is an error while nobody listens.
func answers(at string) error {
	c, err := net.Dial("tcp", at)
	if err != nil {
		return err
	}
	return c.Close()
}

// bound is an error while a port is free.
func bound(network, at string) error {
	c, err := net.ListenPacket(network, at)
	if err != nil {
		return nil // somebody has it
	}
	c.Close()
	return fmt.Errorf("nobody is on %s", at)
}

var sockperfQuantile = regexp.MustCompile(`percentile ([0-9.]+) = +([0-9.]+)`)

// sockperf measures with its client, whole round trips.
func sockperf(network string, more ...string) func(context.Context, *bench, *server) (figures, error) {
	return func(ctx context.Context, b *bench, s *server) (figures, error) {
		host, port, _ := net.SplitHostPort(s.at)
		argv := append([]string{b.peer("sockperf"), "ping-pong", "-i", host, "-p", port, "-m", strconv.Itoa(messageSize), "-t", fmt.Sprintf("%.0f", max(1, b.o.window.Seconds())), "--full-rtt"}, more...)
		if network == "tcp" {
			argv = append(argv, "--tcp")
		}
		r, err := b.program(ctx, b.clientCPU, argv...)
		if err != nil {
			return nil, err
		}
		return sockperfFigures(r.out)
	}
}

func sockperfFigures(text []byte) (figures, error) {
	out := figures{}
	for _, m := range sockperfQuantile.FindAllSubmatch(text, -1) {
		at, _ := strconv.ParseFloat(string(m[1]), 64) // digits, by the expression
		v, _ := strconv.ParseFloat(string(m[2]), 64)
		if at == 50 || at == 99 {
			out[fmt.Sprintf("p%.0f, µs", at)] = v
		}
	}
	if len(out) != 2 {
		return nil, fmt.Errorf("sockperf printed no p50 and p99: %s", tail(string(text)))
	}
	return out, nil
}
