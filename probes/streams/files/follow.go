package files

import (
	"context"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snag/probes/probe"
	"snag/recording"
)

// Stream is one HLS stream to be found.
type Stream struct {
	Name  string
	Layer string
	Path  string // of its URL
}

const (
	period      = time.Second
	searchEvery = 5 // ticks, for what was not found
	measure     = "streams.files"
)

// followed is a stream and who was found to write it.
type followed struct {
	Stream
	found
	known bool
	comm  string
}

// Follower follows the files of streams.
type Follower struct {
	env     *probe.Env
	find    finder
	streams []*followed
	ticks   int
	since   recording.Time
	late    time.Duration
	cost    float64 // of the thread that Run is on
}

// New returns a follower of these streams.
func New(env *probe.Env, streams []Stream) *Follower {
	f := &Follower{env: env, find: finder{proc: env.Proc, self: env.SelfPID}, since: env.Now()}
	for _, s := range streams {
		f.streams = append(f.streams, &followed{Stream: s})
	}
	return f
}

// Run looks once a second until ctx ends, and leaves the measure's coverage.
func (f *Follower) Run(ctx context.Context) {
	if len(f.streams) == 0 {
		f.env.Sink.Append(recording.Coverage{Probe: measure, State: recording.CoverageOff, Why: "no HLS stream was asked for", Cure: "snag find --stream http://…/name.m3u8"})
		return
	}
	var work probe.Work
	f.late = probe.Every(ctx, period, work.During(func(time.Duration) {
		f.tick()
		f.cost = work.CPU()
		if f.ticks%searchEvery == 0 {
			f.env.Sink.Append(f.coverage()) // for a recording that is cut off
		}
	}))
	f.env.Sink.Append(f.coverage())
}

func (f *Follower) tick() {
	if f.ticks%searchEvery == 0 {
		f.search()
	}
	f.ticks++
	for _, s := range f.streams {
		if !s.known {
			continue
		}
		row, ok := f.look(s)
		if !ok {
			s.known = false // it ended, or its playlist went
			continue
		}
		f.env.Sink.Append(row)
	}
}

func (f *Follower) search() {
	var all []open
	var pids []int
	for _, s := range f.streams {
		if s.known {
			continue
		}
		if pids == nil {
			all, pids = f.find.segments()
		}
		if s.found, s.known = f.find.find(s.Path, all, pids); !s.known {
			continue
		}
		comm, _ := os.ReadFile(f.env.Proc + "/" + strconv.Itoa(s.pid) + "/comm")
		s.comm = strings.TrimSpace(string(comm))
		f.env.Watch.Add(s.pid, fmt.Sprintf("it writes %s, the playlist of %s", s.playlist, s.Name))
		f.env.Watch.Carry(s.pid)
	}
}

// look is how the files are now; false where the writer or the playlist is gone.
func (f *Follower) look(s *followed) (recording.StreamFile, bool) {
	var st unix.Stat_t
	row := recording.StreamFile{T: f.env.Now(), Name: s.Name, Layer: s.Layer, Path: s.playlist, PID: s.pid, Comm: s.comm, By: s.by}
	if err := unix.Stat(f.find.rooted(s.pid, s.playlist), &st); err != nil {
		return row, false
	}
	row.Size, row.MTime = st.Size, recording.Time(st.Mtim.Nano())
	files, _, err := f.find.of(s.pid)
	if err != nil {
		return row, false
	}
	for _, o := range files {
		if path.Dir(o.path) != s.dir || !s.shapes[shape(path.Base(o.path))] {
			continue
		}
		if err := unix.Stat(f.env.Proc+"/"+strconv.Itoa(s.pid)+"/fd/"+strconv.Itoa(o.fd), &st); err == nil && recording.Time(st.Mtim.Nano()) >= row.SegmentMTime {
			row.Segment, row.SegmentSize, row.SegmentMTime = path.Base(o.path), st.Size, recording.Time(st.Mtim.Nano())
		}
	}
	return row, true
}

func (f *Follower) coverage() recording.Coverage {
	c := recording.Coverage{Probe: measure, State: recording.CoverageOK, Since: f.since, Late: f.late.Seconds(), Cost: f.cost}
	var missing []string
	for _, s := range f.streams {
		if s.pid == 0 {
			missing = append(missing, s.Name)
		}
	}
	switch {
	case len(missing) > 0 && f.find.refused > 0:
		c.State = recording.CoveragePartial
		c.Why = fmt.Sprintf("who writes %s was not found; the files of %d processes can't be seen", strings.Join(missing, ", "), f.find.refused)
		c.Cure = "run as root, or give the binary CAP_SYS_PTRACE: setcap cap_sys_ptrace+ep snag"
	case len(missing) > 0:
		c.State = recording.CoveragePartial
		c.Why = "no process of this host has a segment of " + strings.Join(missing, ", ") + " open to write, or the playlist on its command line"
		c.Cure = "run on the host that writes the segments"
	}
	return c
}
