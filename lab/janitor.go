package lab

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
)

// JanitorCommand is the hidden subcommand that must call Janitor.
const JanitorCommand = "janitor"

// keeper is the stage's side of the janitor: the write end of its standard
// input. When the stage's process ends, however it does, the pipe closes.
type keeper struct {
	mu  sync.Mutex
	cmd *exec.Cmd
	in  io.WriteCloser
}

// note is one line to the janitor.
type note struct {
	Add  *item `json:"add,omitempty"`
	Done bool  `json:"done,omitempty"` // all is removed: nothing is left to do
}

func startKeeper(s *Stage) (*keeper, error) {
	cmd := exec.Command(s.opts.Self, JanitorCommand, s.token())
	// A session of its own: Ctrl-C at the terminal is for the lab, not for it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = []*os.File{s.lock}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("lab: start the janitor: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("lab: start the janitor %s: %w", s.opts.Self, err)
	}
	return &keeper{cmd: cmd, in: in}, nil
}

func (k *keeper) add(it item) error { return k.tell(note{Add: &it}) }

func (k *keeper) tell(n note) error {
	line, err := json.Marshal(n)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	_, err = k.in.Write(append(line, '\n'))
	return err
}

// dismiss ends the janitor; unless all is clean it tries once more first.
func (k *keeper) dismiss(clean bool) error {
	var err error
	if clean {
		err = k.tell(note{Done: true})
	}
	return errors.Join(err, k.in.Close(), k.cmd.Wait())
}

// Janitor reads what a stage makes from in, and removes it when in ends without
// a word that it is done.
func Janitor(in io.Reader, token string) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	made, done := readNotes(in)
	if done {
		return nil
	}
	return clean(token, made)
}

// readNotes keeps what can be read: a line torn by the parent's death is left out.
func readNotes(in io.Reader) (made []item, done bool) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var n note
		if json.Unmarshal(lines.Bytes(), &n) != nil {
			continue
		}
		if n.Add != nil {
			made = append(made, *n.Add)
		}
		if n.Done {
			return made, true
		}
	}
	return made, false
}
