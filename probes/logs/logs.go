// Package logs follows how the log files of services grow: size and time of the last
// write, once a second, of files that a process with sockets (or one that is watched)
// has open to append to. Nothing of their content is read.
package logs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"snag/probes/probe"
	"snag/recording"
)

// Probe is the probe of log files.
var Probe = probe.Probe{Name: name, Start: start}

const (
	name   = "logs"
	period = time.Second
	// searchEach ticks new files are looked for, and rotation.
	searchEach = 5
	// silentFor ticks: a log that grew at each of usually ticks and then at none for
	// so many has its process looked at closely.
	silentFor = 3
	usually   = 3
	// unwritten ticks: a log that was not written so far has its process looked at closely, too,
	// where one of mostThreads threads of it waits to write to a full pipe.
	unwritten   = 2
	mostThreads = 64
)

// file is one followed file.
type file struct {
	open
	comm    string
	row     recording.LogFile
	written recording.LogFile
	known   bool
	grew    int // ticks in which it grew
	quiet   int // ticks since
}

type sampler struct {
	env    *probe.Env
	cancel context.CancelFunc
	done   sync.WaitGroup

	find  finder
	files map[open]*file
	left  int // files beyond the bound
	ticks int
	since recording.Time
	late  time.Duration
	cost  float64
}

func start(ctx context.Context, env *probe.Env) (probe.Running, error) {
	s := &sampler{env: env, find: finder{proc: env.Proc, known: map[int]bool{env.SelfPID: true}}, files: map[open]*file{}, since: env.Now()}
	ctx, s.cancel = context.WithCancel(ctx)
	s.done.Add(1)
	go s.run(ctx)
	return s, nil
}

func (s *sampler) run(ctx context.Context) {
	defer s.done.Done()
	var work probe.Work
	probe.Every(ctx, period, work.During(func(late time.Duration) {
		s.late = max(s.late, late)
		s.tick(false)
		s.cost = work.CPU()
		now := s.env.Now()
		labels := recording.Labels{"probe": name}
		s.env.Sink.Sample(now, "snag_probe_cpu_seconds_total", labels, s.cost)
		s.env.Sink.Sample(now, "snag_probe_late_seconds", labels, late.Seconds())
		if s.ticks%searchEach == 0 {
			s.env.Sink.Append(s.coverage()) // for a recording that is cut off
		}
	}))
	work.Begin()
	defer work.End()
	s.tick(true)
	s.cost = work.CPU()
}

// Stop implements probe.Running.
func (s *sampler) Stop() {
	s.cancel()
	s.done.Wait()
	s.env.Sink.Append(s.coverage())
}

func (s *sampler) tick(last bool) {
	search := s.ticks%s.env.Ticks(searchEach) == 0
	if search && !last {
		s.search()
	}
	s.ticks++
	for key, f := range s.files {
		if !s.look(f, search) {
			delete(s.files, key)
			continue
		}
		if last || !f.known || f.row.Size != f.written.Size || f.row.MTime != f.written.MTime || f.row.Rotated != f.written.Rotated {
			s.env.Sink.Append(f.row)
			f.written, f.known = f.row, true
		}
	}
}

func (s *sampler) search() {
	s.left = 0
	for _, o := range s.find.search(s.env.Watch.PIDs()) {
		if s.files[o] != nil {
			continue
		}
		if len(s.files) >= mostFiles {
			s.left++
			continue
		}
		comm, err := os.ReadFile(s.env.Proc + "/" + strconv.Itoa(o.pid) + "/comm")
		if err == nil {
			s.files[o] = &file{open: o, comm: strings.TrimSpace(string(comm))}
		}
	}
}

// look takes the size of a file; false once the descriptor is another's, or closed.
func (s *sampler) look(f *file, rotation bool) bool {
	var st unix.Stat_t
	link := s.env.Proc + "/" + strconv.Itoa(f.pid) + "/fd/" + strconv.Itoa(f.fd)
	t := s.env.Now()
	if err := unix.Stat(link, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || f.row.Inode != 0 && st.Ino != f.row.Inode {
		return false
	}
	grew := f.row.Inode != 0 && (st.Size > f.row.Size || recording.Time(st.Mtim.Nano()) > f.row.MTime)
	f.row = recording.LogFile{
		T: t, PID: f.pid, Comm: f.comm, FD: f.fd, Path: f.path, Inode: st.Ino, Size: st.Size,
		MTime: recording.Time(st.Mtim.Nano()), Rotated: f.row.Rotated,
	}
	if rotation {
		f.row.Rotated = s.rotated(f, st)
	}
	f.quiet++
	switch {
	case grew:
		f.grew, f.quiet = f.grew+1, 0
	case f.quiet == silentFor && f.grew >= usually:
		s.env.Watch.Add(f.pid, fmt.Sprintf("its log %s grew, and has not for %d s", f.path, silentFor))
	case f.quiet == unwritten && f.grew == 0 && s.waitsToWrite(f.pid):
		s.env.Watch.Add(f.pid, fmt.Sprintf("its log %s does not grow, and it waits to write to a full pipe", f.path))
	}
	return true
}

// waitsToWrite reports whether a thread of a process sleeps in a write to a pipe, by the kernel's
// function (pipe_write; anon_pipe_write since 6.16).
func (s *sampler) waitsToWrite(pid int) bool {
	paths, _ := filepath.Glob(filepath.Join(s.env.Proc, strconv.Itoa(pid), "task", "*", "wchan"))
	return slices.ContainsFunc(paths[:min(len(paths), mostThreads)], func(path string) bool {
		in, err := os.ReadFile(path)
		return err == nil && strings.HasSuffix(string(in), "pipe_write")
	})
}

// rotated reports whether the path is no longer this file: it was renamed or removed
// under the process, or a new one was made.
func (s *sampler) rotated(f *file, own unix.Stat_t) bool {
	var st unix.Stat_t
	err := unix.Stat(s.env.Proc+"/"+strconv.Itoa(f.pid)+"/root"+f.path, &st)
	if err == unix.ENOENT {
		return true
	}
	to, linkErr := os.Readlink(s.env.Proc + "/" + strconv.Itoa(f.pid) + "/fd/" + strconv.Itoa(f.fd))
	if linkErr == nil && to != f.path { // renamed: the link follows it
		return true
	}
	return err == nil && (st.Ino != own.Ino || st.Dev != own.Dev)
}

func (s *sampler) coverage() recording.Coverage {
	c := recording.Coverage{Probe: name, State: recording.CoverageOK, Since: s.since, Late: s.late.Seconds(), Cost: s.cost}
	switch {
	case s.find.refused > 0:
		c.State = recording.CoveragePartial
		c.Why = fmt.Sprintf("the files of %d processes can't be seen: %v", s.find.refused, s.find.first)
		c.Cure = "run as root, or give the binary CAP_SYS_PTRACE: setcap cap_sys_ptrace+ep snag"
	case s.left > 0:
		c.State = recording.CoveragePartial
		c.Why = fmt.Sprintf("%d log files beyond the %d that are followed", s.left, mostFiles)
		c.Cure = "name what to look at: --pid or --unit"
	case s.find.left > 0:
		c.State = recording.CoveragePartial
		c.Why = fmt.Sprintf("%d processes were not looked at yet: at most %d descriptors are looked at every %d s", s.find.left, mostAll, searchEach)
	}
	return c
}
