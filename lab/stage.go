package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// MaxLife bounds every process of a stage: an actor ends by itself after it.
const MaxLife = 5 * time.Minute

// Options of a stage.
type Options struct {
	// Self is the binary that is re-executed as janitor and as actors: it must
	// know the hidden subcommands. "" is the running binary.
	Self string
	// Shared lets other shared stages be on the machine meanwhile: for tests, which
	// look at their own namespaces only.
	Shared bool
	// Suffix ends the names of what the stage makes: for shared stages of one process
	// that are there at the same time.
	Suffix string
	// Beside are stages of this process that are on the machine already and go on:
	// the new one takes no turn of its own.
	Beside []*Stage
	// Level is how hard the incident hits; "" is Plain.
	Level Level
	// Log gets a line for each step; nil for none.
	Log        func(format string, args ...any)
	noBaseline bool
	// Snag is the binary whose find makes a baseline.
	Snag string
	// Out is the folder of the recording that is made later; a baseline is put
	// beside it, as Out.baseline. "" puts it into the stage's folder.
	Out string
}

// Stage is what an incident is built on. Its methods that build do nothing once
// one of them failed; Err returns that first failure. So an incident reads as a
// list of what there is.
type Stage struct {
	ctx    context.Context
	opts   Options
	id     string // prefix of every name: snaglab<pid>
	dir    string
	spawn  *spawner
	keeper *keeper
	lock   *os.File

	mu    sync.Mutex
	err   error
	procs []*Process
	made  []item // in the order made; removed in the reverse

	// resolvers counts the resolv.conf files that were made: see Resolving.
	resolvers int

	// baseline is the recording that find is to compare with: see Baseline.
	baseline string
	// breaks are what is done in the middle of find's window: see BreaksIn.
	breaks []func()

	// find is how snag find is to be started: see FindIn.
	find []Option
	// findAt is the namespace that it is started in, "" the lab's own, and streams what
	// it watches: see FindAt; layers are those of FindLayers.
	findAt  string
	streams []string
	layers  string
	beside  []string // streams that snag watch reads too: see WatchBeside
}

// NewStage waits for its turn (two incidents at a time would be each other's
// noise in what snag sees of the machine), starts the janitor and returns an empty stage.
// Close it.
func NewStage(ctx context.Context, o Options) (*Stage, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("lab: making network namespaces needs root: run it with sudo")
	}
	if o.Self == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("lab: find the running binary: %w", err)
		}
		o.Self = self
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	lock, err := takeTurnBeside(ctx, o)
	if err != nil {
		return nil, err
	}
	s := &Stage{ctx: ctx, opts: o, id: fmt.Sprintf("snaglab%d%s", os.Getpid(), o.Suffix), lock: lock}
	if n := len(o.Beside); n > 0 {
		s.id += string(rune('a' + n)) // the second one's names end in b
	}
	s.spawn = newSpawner()
	s.dir, err = os.MkdirTemp("", s.id+"-")
	if err == nil {
		s.keeper, err = startKeeper(s)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	s.remember(item{Kind: kindDir, Path: s.dir})
	return s, nil
}

// At picks a value by the level of the run.
func At[T any](s *Stage, barely, plain, severe T) T {
	switch s.opts.Level {
	case Barely:
		return barely
	case Severe:
		return severe
	default:
		return plain
	}
}

// Context ends when the run is to end.
func (s *Stage) Context() context.Context { return s.ctx }

// Dir is the stage's temporary folder, for files that the programs need.
func (s *Stage) Dir() string { return s.dir }

// File writes a file in the stage's folder and returns its path.
func (s *Stage) File(name, content string) string {
	path := filepath.Join(s.dir, name)
	if s.Err() == nil {
		s.fail(os.WriteFile(path, []byte(content), 0o644))
	}
	return path
}

// Err returns the first failure of a method that builds.
func (s *Stage) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// fail keeps the first failure and reports whether there is one.
func (s *Stage) fail(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	return s.err != nil
}

// remember records what was made, here and at the janitor.
func (s *Stage) remember(it item) {
	s.mu.Lock()
	s.made = append(s.made, it)
	s.mu.Unlock()
	if err := s.keeper.add(it); err != nil {
		s.fail(fmt.Errorf("lab: tell the janitor about %s: %w", it, err))
	}
}

// Close ends the processes, removes all that was made and lets the next stage
// go. What it could not remove is in the error, and tried again by the janitor.
func (s *Stage) Close() error {
	s.mu.Lock()
	made := s.made
	s.made = nil
	s.mu.Unlock()
	err := clean(s.token(), made)
	if s.keeper != nil {
		err = errors.Join(err, s.keeper.dismiss(err == nil))
	} else if s.dir != "" {
		os.RemoveAll(s.dir)
	}
	s.spawn.stop()
	s.lock.Close()
	return err
}

// token marks the environment of every process of this stage.
func (s *Stage) token() string { return "SNAG_LAB_STAGE=" + filepath.Base(s.dir) }

// Await polls until ready says yes, and fails after the timeout, when the run
// ends, or when a process ended that should go on.
func (s *Stage) Await(what string, timeout time.Duration, ready func() (bool, error)) {
	if s.Err() != nil {
		return
	}
	deadline := time.Now().Add(timeout)
	for {
		ok, err := ready()
		if err == nil && ok {
			return
		}
		if dead := s.dead(); dead != nil {
			s.fail(fmt.Errorf("lab: waiting for %s: %w", what, dead))
			return
		}
		if time.Now().After(deadline) {
			s.fail(errors.Join(fmt.Errorf("lab: waited %v for %s and did not see it", timeout, what), err))
			return
		}
		select {
		case <-s.ctx.Done():
			s.fail(fmt.Errorf("lab: waiting for %s: %w", what, s.ctx.Err()))
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Pause waits, or fails when the run ends first.
func (s *Stage) Pause(d time.Duration) {
	if s.Err() != nil {
		return
	}
	select {
	case <-s.ctx.Done():
		s.fail(s.ctx.Err())
	case <-time.After(d):
	}
}
