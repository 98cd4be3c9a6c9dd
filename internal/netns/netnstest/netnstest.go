// Package netnstest gives the tests of a package, or one test, a network namespace of
// their own: a port of loopback that was free a moment ago is then still free, a
// capture on it sees nobody else's packets, and the kernel removes it all with the
// last process. Real programs that a test starts are in it too.
package netnstest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// marker is in the environment of a process that has its own namespace.
const marker = "NETNSTEST"

// Main is for TestMain of a package whose tests use loopback. It runs the test binary
// again in a new namespace and ends with its exit code. Who is not root may not make
// one, and shares the machine's.
func Main(m *testing.M) {
	if !needed() {
		os.Exit(m.Run())
	}
	cmd := again(os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := run(cmd)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(cmd.ProcessState.ExitCode())
}

// Alone runs one test again in a new namespace. It reports whether it did: the test is
// then over, with the other's outcome.
func Alone(t *testing.T) bool {
	t.Helper()
	if !needed() {
		return false
	}
	cmd := again("-test.run=^"+t.Name()+"$", "-test.v")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	switch err := run(cmd); {
	case err != nil:
		t.Errorf("%v\n%s", err, said.String())
	case strings.Contains(said.String(), "--- SKIP: "+t.Name()):
		t.Skip(said.String())
	case !strings.Contains(said.String(), "--- PASS: "+t.Name()):
		t.Errorf("it did not run in its namespace:\n%s", said.String())
	default:
		t.Log(said.String())
	}
	return true
}

// needed: not in the process that has a namespace, whose loopback is set up here.
func needed() bool {
	if os.Geteuid() != 0 {
		return false
	}
	if os.Getenv(marker) == "" {
		return true
	}
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "set up the loopback of the tests' namespace: ip link set lo up: %v: %s\n", err, out)
		os.Exit(1)
	}
	return false
}

// again is the test binary in a new network namespace.
func again(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), marker+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// run waits for it, also after Ctrl-C, which it gets itself.
func run(cmd *exec.Cmd) error {
	runtime.LockOSThread() // Pdeathsig is sent when the thread that started it ends
	defer runtime.UnlockOSThread()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run the tests in their own network namespace: %w", err)
	}
	return nil
}
