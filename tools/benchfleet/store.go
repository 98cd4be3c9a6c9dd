package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// store is a Prometheus on loopback with a folder of its own, which ends with it.
type store struct {
	url string
	cmd *exec.Cmd
	dir string
}

func startStore(ctx context.Context, program string) (*store, error) {
	dir, err := os.MkdirTemp("", "benchfleet")
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	l.Close()
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		return nil, err
	}
	s := &store{url: "http://" + address, dir: dir}
	s.cmd = exec.CommandContext(ctx, program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.enable-remote-write-receiver", "--web.listen-address="+address, "--log.level=warn")
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("start Prometheus: %w (make setup installs it)", err)
	}
	for range 300 {
		if resp, err := http.Get(s.url + "/-/ready"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return s, nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.end()
	return nil, fmt.Errorf("prometheus was not ready within 30 s")
}

func (s *store) end() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
	os.RemoveAll(s.dir)
}

// fill sends what the hosts of a world send at these times.
func (s *store) fill(ctx context.Context, w *world, times []int64) error {
	todo, failed := make(chan int), make(chan error, w.hosts)
	var senders sync.WaitGroup
	for range runtime.NumCPU() {
		senders.Go(func() {
			for n := range todo {
				if err := s.write(ctx, encode(w.of(n), times)); err != nil {
					failed <- err
				}
			}
		})
	}
	for n := range w.hosts {
		todo <- n
	}
	close(todo)
	senders.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func (s *store) write(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/api/v1/write", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Encoding", "snappy")
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("X-Prometheus-Remote-Write-Version", "0.1.0")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 300))
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("send to Prometheus: %s: %s", resp.Status, text)
	}
	return nil
}

// resident is its memory now, and the most that it had, in bytes.
func (s *store) resident() (now, most float64) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(b)) {
		w := strings.Fields(line)
		if len(w) < 2 {
			continue
		}
		kb, _ := strconv.ParseFloat(w[1], 64)
		switch w[0] {
		case "VmRSS:":
			now = 1024 * kb
		case "VmHWM:":
			most = 1024 * kb
		}
	}
	return now, most
}

// cpu is its CPU time so far, in seconds.
func (s *store) cpu() float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	w := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	user, _ := strconv.ParseFloat(w[11], 64) // proc(5): utime is the 14th, of which two were cut off
	system, _ := strconv.ParseFloat(w[12], 64)
	return (user + system) / 100
}
