package main

import (
	"context"
	"encoding/json"
	"fmt"
)

const (
	sinkAt  = "127.0.0.1:7106"
	iperfAt = "127.0.0.1:7107"
)

// bulk is how much one connection over the loopback interface carries, when more is asked for than it can.
func bulk() contest {
	return contest{
		name: "bandwidth of one connection",
		server: func(ctx context.Context, b *bench) (*server, error) {
			s, err := b.start(ctx, sinkAt, func() error { return answers(sinkAt) }, b.self, "serve", "-at", sinkAt, "-sink")
			if err != nil {
				return nil, err
			}
			i, err := b.start(ctx, iperfAt, func() error { return answers(iperfAt) }, b.peer("iperf3"), "-s", "-B", "127.0.0.1", "-p", "7107")
			if err != nil {
				s.end()
				return nil, err
			}
			s.also = []*server{i}
			return s, nil
		},
		contenders: []contender{
			{"snag", func(ctx context.Context, b *bench, s *server) (figures, error) {
				l, _, err := b.load(ctx, "tcp://"+s.at, "--bandwidth", "200Gbit", "--size", "131072", "--for", seconds(b))
				if err != nil {
					return nil, err
				}
				if l.Bandwidth == nil {
					return nil, fmt.Errorf("snag load printed no bandwidth")
				}
				return figures{"Gbit/s": l.Bandwidth.Acknowledged / 1e9}, nil
			}},
			{"iperf3", func(ctx context.Context, b *bench, _ *server) (figures, error) {
				r, err := b.program(ctx, b.clientCPU, b.peer("iperf3"), "-c", "127.0.0.1", "-p", "7107", "-l", "128K", "-t", fmt.Sprintf("%.0f", max(1, b.o.window.Seconds())), "-J")
				if err != nil {
					return nil, err
				}
				var said struct {
					End struct {
						Received struct {
							Bits float64 `json:"bits_per_second"`
						} `json:"sum_received"`
					} `json:"end"`
				}
				if err := json.Unmarshal(r.out, &said); err != nil {
					return nil, fmt.Errorf("read the JSON of iperf3: %w", err)
				}
				return figures{"Gbit/s": said.End.Received.Bits / 1e9}, nil
			}},
		},
	}
}
