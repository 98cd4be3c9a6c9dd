package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"snag/internal/cli"
)

// snagPath is the snag that is judged: the one that was given, else the one beside this
// program, else the one in PATH.
func snagPath(given string) (string, error) {
	if given != "" {
		path, err := exec.LookPath(given)
		if err != nil {
			return "", cli.Usage("--snag %s: there is no such program: %v", given, err)
		}
		return filepath.Abs(path)
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the running binary: %w", err)
	}
	beside := filepath.Join(filepath.Dir(self), "snag")
	if path, err := exec.LookPath(beside); err == nil {
		return path, nil
	}
	if path, err := exec.LookPath("snag"); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("there is no %s, and no snag in PATH: make build builds it; --snag PATH names another", beside)
}

// showVerdict prints what snag find would have shown of that recording.
func showVerdict(w io.Writer, snag, recording, baseline string) error {
	args := []string{"judge", recording}
	if baseline != "" {
		args = append(args, "--baseline", baseline)
	}
	cmd := exec.Command(snag, args...)
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	err := cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && (ended.ExitCode() == cli.ExitCulprit || ended.ExitCode() == cli.ExitCantTell) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("show the verdict: %s judge %s: %w", snag, recording, err)
	}
	return nil
}
