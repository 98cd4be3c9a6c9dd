package lab

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// Foreground runs a program beside the incident, on the caller's terminal, and
// returns its exit code. Ctrl-C is for the program: it reaches it through the
// terminal, and here only means that the program is waited for. Other signals to
// end are passed on as Ctrl-C, so that it still says what it found.
func (s *Stage) Foreground(argv []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	if err := s.Err(); err != nil {
		return -1, err
	}
	asked := make(chan os.Signal, 4)
	signal.Notify(asked, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(asked)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	cmd.Env = append(os.Environ(), s.token())
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.spawn.in("", cmd.Start); err != nil {
		return -1, fmt.Errorf("lab: start %s: %w", argv[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case sig := <-asked:
			if sig != syscall.SIGINT {
				_ = cmd.Process.Signal(syscall.SIGINT)
			}
		case err := <-ended:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return -1, fmt.Errorf("lab: run %s: %w", argv[0], err)
			}
			// What ended while it was looked at makes the run worthless.
			if dead := s.dead(); dead != nil {
				return cmd.ProcessState.ExitCode(), fmt.Errorf("lab: while %s ran: %w", argv[0], dead)
			}
			return cmd.ProcessState.ExitCode(), nil
		}
	}
}
