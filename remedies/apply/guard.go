package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"snag/remedies/journal"
	"snag/remedies/knob"
)

// GuardCommand are the words that have snag wait for a plan's deadline: what
// ArmProcess starts.
var GuardCommand = []string{"tune", "guard"}

// Arm has a unit of systemd's wait where systemd runs the host, else a process of its
// own. flags are added to its command.
func Arm(dir string, flags ...string) (string, error) {
	if !hostsNamespaces() {
		return ArmProcess(dir, flags...)
	}
	conn, err := knob.DialSystemd()
	if err != nil {
		return ArmProcess(dir, flags...)
	}
	defer func() { _ = conn.Close() }()
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find snag's own program: %w", err)
	}
	who, err := ArmUnit(conn, dir, slices.Concat([]string{self}, GuardCommand, []string{dir}, flags))
	if err != nil {
		// A systemd that refuses (a container's, one that is full): a process will do.
		return ArmProcess(dir, flags...)
	}
	return who, nil
}

// hostsNamespaces reports whether snag runs where systemd's units do: one that was started
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
func ArmProcess(dir string, flags ...string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find snag's own program: %w", err)
	}
	cmd := exec.Command(self, slices.Concat(GuardCommand, []string{dir}, flags)...)
	// What it can't do it says there; where the file can't be made, nowhere.
	if f, err := journal.OpenFile(filepath.Join(dir, guardLog), os.O_WRONLY|os.O_CREATE|os.O_APPEND); err == nil {
		cmd.Stderr = f
		defer func() { _ = f.Close() }()
	}
	return startGuard(cmd)
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

// guardLog is what a guard that is a process of its own says, in the plan's folder. One
// that is a unit says it to systemd's journal.
const guardLog = "guard.log"

// Guard waits until a plan is confirmed or undone, and undoes it when its time is
// over or when ctx ends. It tries until the undo succeeds, and writes to errs why it has
// not succeeded yet.
func (s *Store) Guard(ctx context.Context, id string, ready, errs io.Writer) error {
	e, err := s.Find(id)
	if err != nil {
		return err
	}
	id = e.ID
	release, err := hold(e.Dir, guardFile)
	if err != nil {
		return err
	}
	defer release()
	if _, err := io.WriteString(ready, guardReady); err != nil {
		return fmt.Errorf("say that the guard waits: %w", err)
	}
	every := time.NewTicker(guardLooks)
	defer every.Stop()
	for {
		e = s.look(id, e)
		if e.State.Phase == Kept || e.State.Phase == Undone || e.State.Settled() {
			return nil // the last: a unit that was started again after its undo came to its end
		}
		if why := s.due(ctx, e); why != "" {
			return s.undoUntilDone(e, why, errs)
		}
		select {
		case <-every.C:
		case <-ctx.Done():
		}
	}
}

const (
	guardLooks = time.Second / 4
	// A guard that could not undo tries again after guardLooks, then after twice that, up
	// to longestPause.
	longestPause = 30 * time.Second
)

// look reads a plan anew. Where it can't be read, what it was at the last look counts: it
// may be that nobody can read it any more.
func (s *Store) look(id string, last Entry) Entry {
	if now := s.entry(id); now.Damage == nil || now.State.Phase == Undone || len(last.State.Changes) == 0 {
		return now
	}
	return last
}

// due reports why a plan is to be undone now; "": it is not.
func (s *Store) due(ctx context.Context, e Entry) string {
	switch {
	case ctx.Err() != nil:
		return "the guard was asked to end before the plan was confirmed"
	case abandoned(e):
		return "the snag that tried the settings out has ended"
	case !s.over(e.State, 0):
		return ""
	case e.State.Phase == Trying:
		return "the trial's time was over at " + s.DeadlineOf(e.State).Format(time.TimeOnly)
	}
	return "it was not confirmed by " + s.DeadlineOf(e.State).Format(time.TimeOnly)
}

// undoUntilDone undoes a plan, and tries again as long as that may help: where another
// snag is at work, a setting can't be written, or the journal can't.
func (s *Store) undoUntilDone(e Entry, why string, errs io.Writer) error {
	for pause := guardLooks; ; pause = min(2*pause, longestPause) {
		now, err := s.Undo(e.ID, why)
		if err == nil || now.State.Phase == Undone || now.State.Phase == Kept || now.State.Settled() && !mayYetBe(err) {
			return err
		}
		if errors.Is(err, ErrLocked) {
			pause = guardLooks / 2
		} else {
			if errors.As(err, &unreadable{}) { // then by what was read before
				undone := s.undoFromMemory(e, why)
				if undone == nil && isGone(e.Dir) {
					return fmt.Errorf("the folder of plan %s is gone: its settings are as before, by what was read before", e.ID)
				}
				err = errors.Join(err, undone)
			}
			_, _ = fmt.Fprintf(errs, "%s snag: plan %s could not be undone completely: %v; trying again in %s\n", time.Now().Format(time.DateTime), e.ID, err, pause)
		}
		time.Sleep(pause)
	}
}

// undoFromMemory puts the settings back where the journal is not to be read any more.
func (s *Store) undoFromMemory(e Entry, why string) error {
	err := undo(e.State, s.Boot, why, s.Host, s.Kinds, unwritable{})
	if OnlyNotNoted(err) {
		return nil
	}
	return err
}

// unwritable is the log of a journal that is gone.
type unwritable struct{}

func (unwritable) Append(journal.Record) error { return errors.New("the journal is gone") }

func isGone(dir string) bool {
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}
