package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"snag/remedies/knob"
)

// GuardCommand are the words that have snag wait for a plan's deadline: what
// ArmProcess starts.
var GuardCommand = []string{"tune", "guard"}

// Arm has a unit of systemd's wait where systemd runs the host, else a process of its
// own.
func Arm(dir string, deadline time.Time) (string, error) {
	if !hostsNamespaces() {
		return ArmProcess(dir, deadline)
	}
	conn, err := knob.DialSystemd()
	if err != nil {
		return ArmProcess(dir, deadline)
	}
	defer func() { _ = conn.Close() }()
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find snag's own program: %w", err)
	}
	who, err := ArmUnit(conn, dir, append(append([]string{self}, GuardCommand...), dir))
	if err != nil {
		// A systemd that refuses (a container's, one that is full): a process will do.
		return ArmProcess(dir, deadline)
	}
	return who, nil
}

// hostsNamespaces tells whether snag runs where systemd's units do: one that was started
// in a network namespace (ip netns exec) means that one where a plan names none, and one in
// a mount namespace has its own folders.
func hostsNamespaces() bool {
	for _, ns := range []string{"net", "mnt"} {
		own, err1 := os.Readlink("/proc/self/ns/" + ns)
		first, err2 := os.Readlink("/proc/1/ns/" + ns)
		if err1 != nil || err2 != nil || own != first {
			return false
		}
	}
	return true
}

// ArmProcess has a process of its own wait: in a session of its own, so that the
// terminal's end does not reach it. It says when it waits.
func ArmProcess(dir string, deadline time.Time) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find snag's own program: %w", err)
	}
	return startGuard(exec.Command(self, append(GuardCommand, dir)...))
}

func startGuard(cmd *exec.Cmd) (string, error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", fmt.Errorf("start the guard that undoes all: %w", err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Dir = "/"
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start the guard that undoes all: %w", err)
	}
	word := make([]byte, len(guardReady))
	if _, err := io.ReadFull(out, word); err != nil || string(word) != guardReady {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return "", errors.New("start the guard that undoes all: it ended before it waited")
	}
	who := fmt.Sprintf("process %d", cmd.Process.Pid)
	return who, cmd.Process.Release()
}

// guardReady is what a guard says when it waits.
const guardReady = "waiting\n"

// Guard waits until a plan is confirmed or undone, and undoes it when its time is
// over, or when it is told to end before (ctx).
func (s *Store) Guard(ctx context.Context, id string, ready io.Writer) error {
	e, err := s.Find(id)
	if err != nil {
		return err
	}
	release, err := hold(e.Dir, guardFile)
	if err != nil {
		return err
	}
	defer release()
	if _, err := io.WriteString(ready, guardReady); err != nil {
		return fmt.Errorf("say that the guard waits: %w", err)
	}
	every := time.NewTicker(time.Second / 4)
	defer every.Stop()
	for {
		e, err := s.Find(id)
		if err != nil {
			return err
		}
		switch e.State.Phase {
		case Kept, Undone:
			return nil
		}
		why := ""
		switch {
		case ctx.Err() != nil:
			why = "the guard was told to end before the plan was confirmed"
		case abandoned(e):
			why = "the snag that tried the settings out has ended"
		case e.State.Phase == Trying && !time.Now().Before(e.State.Deadline):
			why = "the trial's time was over at " + e.State.Deadline.Format(time.TimeOnly)
		case !time.Now().Before(e.State.Deadline):
			why = "nobody confirmed it by " + e.State.Deadline.Format(time.TimeOnly)
		}
		if why != "" {
			_, err := s.Undo(e.ID, why)
			if !errors.Is(err, ErrLocked) {
				return err
			}
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			time.Sleep(50 * time.Millisecond)
		}
	}
}
