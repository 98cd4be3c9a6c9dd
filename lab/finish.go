package lab

import (
	"fmt"
	"syscall"
	"time"
)

// Finish waits for a process that ends by itself, and returns its exit code. One that does not end in time
// is killed.
func (s *Stage) Finish(p *Process, within time.Duration) (int, error) {
	if err := s.Err(); err != nil {
		return 0, err
	}
	kill := func() { _ = syscall.Kill(-p.PID, syscall.SIGKILL) } // it may have ended meanwhile
	select {
	case <-p.done:
		return p.state.ExitCode(), nil
	case <-s.ctx.Done():
		kill()
		return 0, s.ctx.Err()
	case <-time.After(within):
		kill()
		return 0, fmt.Errorf("lab: %s has not ended within %v: %s", p.Name, within, p.tail())
	}
}
