package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// settled is how long a recorder runs before a load is compared: its start, with the kernel's
// check of its programs, is over, and it samples as it does for the rest of the day.
const settled = 15 * time.Second

// startRecord starts a recorder with a ring of its own and returns when it has settled. It judges
// what it notices, as it does on any host.
func startRecord(snag string) (end func() error, err error) {
	dir, err := os.MkdirTemp("", "snag-bench")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(snag, "record", "--ring", filepath.Join(dir, "ring"))
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("start snag record: %w", err)
	}
	time.Sleep(settled)
	return func() error {
		defer os.RemoveAll(dir)
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return fmt.Errorf("snag record ended before it was to: %s", bytes.TrimSpace(said.Bytes()))
		}
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("snag record: %w: %s", err, bytes.TrimSpace(said.Bytes()))
		}
		return nil
	}, nil
}
