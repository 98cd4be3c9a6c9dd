package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/churntest"
)

// The host of docs/record.md, "Cost".
const (
	connections = 1000
	sleepers    = 300
)

// sampleEach is often enough for a median of some minutes, and costs the recorder nothing to speak of.
const sampleEach = 10 * time.Second

func (p plan) run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "snag-soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if p.ring == "" {
		p.ring = filepath.Join(dir, "ring")
	}
	busy, cancel := context.WithTimeout(ctx, p.lasts)
	defer cancel()
	var load sync.WaitGroup
	var loadErr, crowdErr error
	load.Go(func() { loadErr = churntest.Run(busy, dir, churntest.Busy.Times(p.churn)) })
	load.Go(func() { crowdErr = churntest.Crowd(busy, connections) })
	for range sleepers {
		load.Go(func() { _ = exec.CommandContext(busy, "sleep", "infinity").Run() })
	}
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	began := time.Now()
	cmd := exec.Command(p.snag, "record", "--ring", p.ring, "--listen", addr)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	samples, err := p.watch(busy, meter{cmd.Process.Pid, "http://" + addr + "/metrics"}, ended)
	if err == nil {
		_ = cmd.Process.Signal(unix.SIGTERM)
		err = <-ended
	}
	cancel()
	load.Wait()
	if err := errors.Join(loadErr, crowdErr); err != nil {
		fmt.Fprintln(os.Stderr, "soak: the host had less to do than it should:", err)
	}
	if err != nil {
		return fmt.Errorf("the recorder: %w", err)
	}
	gaps, err := gapsOf(p.ring, began)
	if err != nil {
		return err
	}
	return verdict(samples, p.settle, gaps)
}

// watch samples until ctx ends. It returns an error if the recorder ends before.
func (p plan) watch(ctx context.Context, m meter, ended <-chan error) (all []sample, err error) {
	start := time.Now()
	tick := time.NewTicker(sampleEach)
	defer tick.Stop()
	fmt.Println(header)
	printed := 0
	for {
		select {
		case <-ctx.Done():
			return all, nil
		case err := <-ended:
			return all, fmt.Errorf("it ended after %s: %w", time.Since(start).Round(time.Second), errors.Join(err, errors.New("nobody stopped it")))
		case <-tick.C:
		}
		s, err := m.sample(time.Since(start))
		if err != nil {
			return all, err
		}
		all = append(all, s)
		if s.at >= time.Duration(printed+1)*p.every-sampleEach/2 {
			fmt.Println(line(all))
			printed++
		}
	}
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
