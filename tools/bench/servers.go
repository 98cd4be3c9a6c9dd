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
	"time"

	"snag/tools/benchhost"
)

// redisAsks has redis-benchmark ask for one key on 16 connections, each with one request open.
// It is told a number of requests and no time: the number is what the run before came to.
func redisAsks() (*session, error) {
	if err := programsThere("redis-server", "redis-benchmark"); err != nil {
		return nil, err
	}
	rate := 20000.0
	return served("redis-server --bind 127.0.0.1 --port 6399 --save '' --appendonly no --dir $DIR", "redis-cli -p 6399 ping",
		func(window time.Duration) string {
			return fmt.Sprintf("redis-benchmark -p 6399 -t get -c 16 -q --csv -n %d", max(1000, int(rate*window.Seconds())))
		},
		regexp.MustCompile(`"GET","([0-9.]+)"`), func(perSecond, seconds float64) float64 {
			rate = perSecond
			return perSecond * seconds
		})
}

// postgresSelects has pgbench read rows by their key, on 8 connections.
func postgresSelects() (*session, error) {
	bin, err := postgresBin()
	if err != nil {
		return nil, err
	}
	as := "setpriv --reuid postgres --regid postgres --clear-groups "
	return served("chown postgres $DIR && "+as+bin+"/initdb -A trust -D $DIR/data >/dev/null && exec "+as+bin+"/postgres -D $DIR/data -k $DIR -h 127.0.0.1 -p 5499 -c fsync=off",
		as+"pgbench -h 127.0.0.1 -p 5499 -i -q -s 1 postgres",
		func(window time.Duration) string {
			return fmt.Sprintf("%spgbench -h 127.0.0.1 -p 5499 -S -n -c 8 -T %d postgres", as, max(1, int(window.Round(time.Second).Seconds())))
		},
		regexp.MustCompile(`transactions actually processed: (\d+)`), func(n, _ float64) float64 { return n })
}

func programsThere(names ...string) error {
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s is missing: tools/setup.sh bench installs it", name)
		}
	}
	return nil
}

// postgresBin is where Debian keeps the server of the newest version.
func postgresBin() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		return "", errors.New("PostgreSQL's server is missing: tools/setup.sh bench installs it")
	}
	return filepath.Dir(found[len(found)-1]), programsThere("pgbench", "setpriv")
}

// served is a server in a network and a process namespace that end with it, and a client that
// runs for each window. Its command is of a shell, in which $DIR is a folder of its own; ready is
// run again until it succeeds. The client prints a figure, from which count makes how many
// operations there were.
func served(server, ready string, client func(time.Duration) string, figure *regexp.Regexp, count func(figure, seconds float64) float64) (*session, error) {
	dir, err := os.MkdirTemp("", "snag-bench")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	g, err := benchhost.NewGroup("snag-bench")
	if err != nil {
		return nil, err
	}
	var said bytes.Buffer
	cmd := g.Put(exec.Command("unshare", "--net", "--pid", "--fork", "--kill-child", "bash", "-c", "ip link set lo up && "+server))
	cmd.Env, cmd.Stderr, cmd.Dir = append(os.Environ(), "DIR="+dir), &said, dir
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	end := func() {
		_ = g.End()
		_ = cmd.Wait()
		os.RemoveAll(dir)
	}
	inside := func(command string) *exec.Cmd {
		c := g.Put(exec.Command("nsenter", "--target", strconv.Itoa(cmd.Process.Pid), "--net", "bash", "-c", command))
		c.Dir = dir
		return c
	}
	for try := 0; inside(ready).Run() != nil; try++ {
		if try == 100 {
			end()
			return nil, fmt.Errorf("%s did not answer within some 20 s: %s", server, bytes.TrimSpace(said.Bytes()))
		}
		time.Sleep(200 * time.Millisecond)
	}
	return &session{pid: cmd.Process.Pid, end: end, run: func(window time.Duration) (done, error) {
		before, err := g.CPU()
		if err != nil {
			return done{}, err
		}
		began := time.Now()
		out, err := inside(client(window)).CombinedOutput()
		if err != nil {
			return done{}, fmt.Errorf("%s: %w: %s", client(window), err, out)
		}
		took := time.Since(began)
		after, err := g.CPU()
		if err != nil {
			return done{}, err
		}
		m := figure.FindSubmatch(out)
		if m == nil {
			return done{}, fmt.Errorf("%s printed no figure: %s", client(window), out)
		}
		n, _ := strconv.ParseFloat(string(m[1]), 64) // digits, by the expression
		return perOperation(count(n, took.Seconds()), took, after-before), nil
	}}, nil
}
