package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// insideVariable is set in the process that runs in the namespace.
const insideVariable = "BENCH_RECORD_INSIDE"

// ownNetwork runs this program once more in a network namespace of its own, and returns
// true in that one. Recorders read the network of the namespace that they run in: in one
// together with the load and the incidents each of them sees all of it, as on a host
// without containers, and nothing of what the machine does besides.
func ownNetwork() (inside bool, err error) {
	if os.Getenv(insideVariable) != "" {
		out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput()
		if err != nil {
			return false, fmt.Errorf("set lo up: %w: %s", err, out)
		}
		return true, nil
	}
	if os.Geteuid() != 0 {
		return false, errors.New("network namespaces and the recorders need root: run it with sudo")
	}
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	// It ends everything that it started before it ends itself.
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for range stop {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
	}()
	return false, cmd.Wait()
}
