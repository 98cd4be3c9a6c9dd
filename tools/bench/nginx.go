package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"snag/tools/workload"
)

const nginxConfig = `daemon off;
user root;
worker_processes 1;
worker_cpu_affinity 0001;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
events { worker_connections 1024; }
http {
	access_log off;
	keepalive_requests 1000000000;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	sendfile on;
	server { listen 127.0.0.1:8080; root %[1]s; }
}
`

// nginx serves a file of 1 KiB to wrk, in a network and a process namespace that end
// with it. nginx has CPU 0, and wrk CPU 1 where there is one. The CPU of an operation
// is that of both: on loopback each does part of the other's work.
func nginx(keep bool) func() (*session, error) {
	return func() (*session, error) {
		for _, name := range []string{"nginx", "wrk", "unshare", "nsenter"} {
			if _, err := exec.LookPath(name); err != nil {
				return nil, fmt.Errorf("%s is missing: install the packages nginx, wrk and util-linux (make setup)", name)
			}
		}
		dir, err := os.MkdirTemp("", "snag-bench-nginx")
		if err != nil {
			return nil, err
		}
		s, err := serveFile(dir, keep)
		if err != nil {
			os.RemoveAll(dir)
		}
		return s, err
	}
}

func serveFile(dir string, keep bool) (*session, error) {
	conf := filepath.Join(dir, "nginx.conf")
	if err := errors.Join(os.WriteFile(conf, fmt.Appendf(nil, nginxConfig, dir), 0o600),
		os.WriteFile(filepath.Join(dir, "file"), bytes.Repeat([]byte("snag"), 256), 0o600)); err != nil {
		return nil, err
	}
	cmd := exec.Command("unshare", "--net", "--pid", "--fork", "--kill-child", "sh", "-c",
		`ip link set lo up && echo "1024 65535" >/proc/sys/net/ipv4/ip_local_port_range && exec nginx -c "$0"`, conf)
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	end := func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		os.RemoveAll(dir)
	}
	var master, worker int
	for range 50 {
		time.Sleep(100 * time.Millisecond)
		if m := workload.Children(cmd.Process.Pid); len(m) == 1 {
			if w := workload.Children(m[0]); len(w) == 1 {
				master, worker = m[0], w[0]
				break
			}
		}
	}
	if worker == 0 {
		end()
		return nil, fmt.Errorf("nginx did not start: %s", bytes.TrimSpace(said.Bytes()))
	}
	return &session{pid: master, end: end, run: func(window time.Duration) (done, error) { return wrk(master, worker, keep, window) }}, nil
}

// wrk(1) prints "  12345 requests in 4.00s, 14.13MB read", or "in 1.00m".
var requests = regexp.MustCompile(`(\d+) requests in ([0-9.]+(?:ms|s|m|h)),`)

func wrk(master, worker int, keep bool, window time.Duration) (done, error) {
	seconds := strconv.Itoa(max(1, int(window.Round(time.Second).Seconds())))
	args := []string{"--target", strconv.Itoa(master), "--net", "wrk", "-t1", "-c16", "-d" + seconds + "s"}
	if !keep {
		args = append(args, "-H", "Connection: close")
	}
	cmd := exec.Command("nsenter", append(args, "http://127.0.0.1:8080/file")...)
	if _, err := os.Stat("/sys/devices/system/cpu/cpu1"); err == nil {
		cmd = exec.Command("taskset", append([]string{"-c", "1", "nsenter"}, append(args, "http://127.0.0.1:8080/file")...)...)
	}
	before, err := workload.CPUTime(worker)
	if err != nil {
		return done{}, err
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return done{}, fmt.Errorf("wrk: %w: %s", err, out)
	}
	after, err := workload.CPUTime(worker)
	if err != nil {
		return done{}, err
	}
	m := requests.FindStringSubmatch(string(out))
	if m == nil || strings.Contains(string(out), "Non-2xx") {
		return done{}, fmt.Errorf("wrk said: %s", out)
	}
	n, _ := strconv.ParseFloat(m[1], 64)
	took, err := time.ParseDuration(m[2])
	if err != nil {
		return done{}, fmt.Errorf("wrk said: %s", out)
	}
	own := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return perOperation(n, took, after-before+own), nil
}
