package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"snag/tools/benchhost"
)

// program is one of those that a recorder is made of.
type program struct {
	name string
	argv []string
	stop syscall.Signal // that it ends well by
}

// recorder is a tool in one configuration. Paths in it begin with the folder that it is
// given for its data.
type recorder struct {
	name     string
	tool     string
	interval time.Duration
	// files are those that it needs before its start, by name below its folder.
	files    map[string]string
	programs []program
	disk     disk
	// usual is its interval where that is too long to be measured: what a sample costs
	// is measured at the interval above.
	usual time.Duration
	// note is what a reader of the table must know.
	note string
}

// running is a recorder that was started.
type running struct {
	recorder
	dir    string
	began  time.Time
	groups []*benchhost.Group
	cmds   []*exec.Cmd
	done   []chan struct{}
}

// maker returns a recorder that keeps its data in the folder.
type maker func(dir string) recorder

func start(m maker, parent string) (*running, error) {
	dir, err := os.MkdirTemp(parent, "recorder-")
	if err != nil {
		return nil, err
	}
	r := &running{recorder: m(dir), dir: dir, began: time.Now()}
	for name, content := range r.files {
		path := filepath.Join(dir, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644))
		if err != nil {
			return nil, err
		}
	}
	for _, p := range r.programs {
		if err := r.start(p); err != nil {
			return nil, errors.Join(fmt.Errorf("start %s: %w", p.name, err), r.end())
		}
	}
	return r, nil
}

func (r *running) start(p program) error {
	g, err := benchhost.NewGroup("bench-record-" + p.name)
	if err != nil {
		return err
	}
	r.groups = append(r.groups, g)
	log, err := os.Create(filepath.Join(r.dir, p.name+".out"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, r.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := g.Put(cmd).Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	r.cmds, r.done = append(r.cmds, cmd), append(r.done, done)
	return nil
}

// alive is an error for a recorder of which a program has ended.
func (r *running) alive() error {
	for i, done := range r.done {
		select {
		case <-done:
			said, _ := os.ReadFile(filepath.Join(r.dir, r.programs[i].name+".out"))
			return fmt.Errorf("%s ended: %s", r.programs[i].name, tail(string(said), 300))
		default:
		}
	}
	return nil
}

// end ends its programs, each by the signal that it wants; its data stay.
func (r *running) end() (err error) {
	for i, cmd := range r.cmds {
		_ = cmd.Process.Signal(r.programs[i].stop)
	}
	for i, done := range r.done {
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			_ = r.cmds[i].Process.Kill()
			<-done
		}
	}
	for _, g := range r.groups {
		err = errors.Join(err, g.End())
	}
	return err
}

func tail(s string, n int) string {
	s = strings.TrimSpace(s)
	return s[max(0, len(s)-n):]
}

// wait is a sleep that ends with the context.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
