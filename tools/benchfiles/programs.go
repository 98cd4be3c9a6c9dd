package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

var errEmpty = errors.New("the real program wrote nothing to multiply")

// run runs a program to its end.
func (m maker) run(args ...string) error {
	cmd := exec.CommandContext(m.ctx, args[0], args[1:]...)
	cmd.Dir = m.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %.500s", args[0], err, out)
	}
	return nil
}

// site is an nginx that serves small and larger files.
type site struct {
	address string
	dir     string
}

const (
	siteConf = `user root; worker_processes 2; pid %[1]s/nginx.pid; error_log %[1]s/error.log;
events { worker_connections 1024; }
http {
  access_log %[1]s/access.log combined;
  client_body_temp_path %[1]s/t1; proxy_temp_path %[1]s/t2; fastcgi_temp_path %[1]s/t3; uwsgi_temp_path %[1]s/t4; scgi_temp_path %[1]s/t5;
  server { listen %[2]s; root %[1]s/www; }
}
`
	siteLoad = `local paths = {"/index.html", "/live/cam1/seg17.ts", "/live/cam2/list.m3u8?token=abc", "/missing"}
local n = 0
request = function() n = n + 1; return wrk.format("GET", paths[n % 4 + 1]) end
`
)

// nginx runs one, on a port of its own, under the command before (strace …), calls
// use, and ends it.
func (m maker) nginx(use func(site) error, before ...string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	_ = l.Close()
	return m.nginxAt(address, use, before...)
}

func (m maker) nginxAt(address string, use func(site) error, before ...string) error {
	s := site{address: address, dir: filepath.Join(m.dir, "site")}
	for path, bytes := range map[string]int{"index.html": 600, "live/cam1/seg17.ts": 200_000, "live/cam2/list.m3u8": 900} {
		path = filepath.Join(s.dir, "www", path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content(bytes), 0o644); err != nil {
			return err
		}
	}
	conf := filepath.Join(s.dir, "nginx.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, siteConf, s.dir, address), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.dir, "load.lua"), []byte(siteLoad), 0o644); err != nil {
		return err
	}
	args := append(before, "nginx", "-p", s.dir, "-c", conf, "-g", "daemon off;")
	cmd := exec.CommandContext(m.ctx, args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	var said bytes.Buffer
	cmd.Stderr = &tail{&said}
	if err := cmd.Start(); err != nil {
		return err
	}
	pid, err := await(m, filepath.Join(s.dir, "nginx.pid"))
	if err == nil {
		err = use(s)
	}
	if pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGQUIT)
	} else {
		_ = cmd.Process.Kill()
	}
	if ended := cmd.Wait(); err == nil && ended != nil {
		err = fmt.Errorf("nginx: %w: %s", ended, said.Bytes())
	}
	return err
}

// content is what does not pack, as a video.
func content(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// await waits until a file holds a pid.
func await(m maker, path string) (pid int, err error) {
	for began := time.Now(); time.Since(began) < 10*time.Second && m.ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if pid, err := strconv.Atoi(string(bytes.TrimSpace(b))); err == nil && pid > 1 {
			time.Sleep(200 * time.Millisecond) // its workers begin
			return pid, nil
		}
	}
	return 0, fmt.Errorf("nginx did not begin: no %s", path)
}

// load is the command that asks the site for as long.
func (s site) load(d time.Duration) []string {
	return []string{"wrk", "-t1", "-c16", "-d" + strconv.Itoa(int(d.Seconds())) + "s", "-s", filepath.Join(s.dir, "load.lua"), "http://" + s.address + "/"}
}

func appendTo(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// grepName is the peer that all reading is compared with: how fast the lines that a
// word stands in can be counted.
const grepName = "grep -c"

func grep(word string) peer {
	return peer{name: grepName, command: []string{"grep", "-a", "-c", word, "FILE"}, codes: []int{1}, pipe: true}
}
