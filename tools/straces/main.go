// Command straces records what strace writes of the lab's incidents: the traces that
// cmd/snag/testdata/straces holds, and that snag read must judge as the lab wants.
package main

import (
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/all"
	"snag/lab/labtest"
)

// traced is which process of an incident is traced.
var traced = map[string]string{
	"slow-consumer": "fanout-relay", "lock-convoy": "thread-server", "worker-queue": "thread-server", "slow-dependency": "thread-server",
	"fd-limit": "token-server", "peer-reset": "feed-server", "log-silence": "log-worker",
}

func main() {
	if ours, err := labtest.Reexec(os.Args); ours {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	out := flag.String("out", "cmd/snag/testdata/straces", "the folder of the traces")
	window := flag.Duration("for", 8*time.Second, "how long each is traced")
	flag.Parse()
	for _, inc := range all.Incidents {
		if traced[inc.Name] == "" || flag.NArg() > 0 && !slices.Contains(flag.Args(), inc.Name) {
			continue
		}
		for _, v := range []lab.Variant{lab.Sick, lab.Healthy, lab.Distractor} {
			path := filepath.Join(*out, fmt.Sprintf("%s-%s.strace.gz", inc.Name, v))
			if err := record(inc, v, path, *window); err != nil {
				fmt.Fprintf(os.Stderr, "straces: %s, %s: %v\n", inc.Name, v, err)
				os.Exit(1)
			}
			fmt.Println(path)
		}
	}
}

// record starts a variant and traces its process for a while.
func record(inc lab.Incident, v lab.Variant, path string, window time.Duration) (err error) {
	o := lab.Options{Shared: true}
	switch inc.Name {
	case "log-silence":
		o.Level = lab.Barely // the silence ends in the trace
	case "slow-consumer":
		window *= 2
	}
	s, err := lab.NewStage(context.Background(), o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Start(inc, v); err != nil {
		return err
	}
	p := s.ProcessOf(traced[inc.Name])
	if p == nil {
		return fmt.Errorf("it has no process %s", traced[inc.Name])
	}
	raw := filepath.Join(s.Dir(), "trace")
	cmd := exec.Command("nsenter", "-t", strconv.Itoa(p.PID), "-n", "strace", // in its namespace, or -yy has no addresses
		"-f", "-ttt", "-T", "-yy", "-s", "32", "-o", raw, "-p", strconv.Itoa(p.PID))
	if err := cmd.Start(); err != nil {
		return err
	}
	time.Sleep(9 * window / 20)
	s.Break()
	time.Sleep(11 * window / 20)
	_ = cmd.Process.Signal(syscall.SIGINT) // it detaches
	_ = cmd.Wait()                         // and says so by its exit code
	return errors.Join(s.Err(), pack(raw, path))
}

func pack(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := io.Copy(z, in); err != nil {
		return err
	}
	return errors.Join(z.Close(), out.Close())
}
