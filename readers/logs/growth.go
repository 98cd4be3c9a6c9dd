package logs

import "snag/recording"

// growth is how one service's log grew: a row for each second in which lines came, as
// the probe of log files has them.
type growth struct {
	sub    recording.Subject
	path   string
	out    recording.Sink
	size   int64
	last   int64 // ns, of the newest line
	rows   int
	begun  bool
	wrote  int64 // ns, of the last row
	inside bool  // lines came since
}

func (g *growth) line(ns int64, size int32) {
	if g.begun && ns < g.last { // lines of several workers come out of order
		g.size += int64(size)
		g.inside = true
		return
	}
	stride := stride(g.rows)
	if g.inside && floor(ns)/stride != floor(g.last)/stride {
		g.row()
	}
	if g.begun && ns-g.last > 2*stride*1e9 && g.wrote != g.last {
		g.row()
	}
	g.size += int64(size)
	g.last, g.begun, g.inside = ns, true, true
}

func (g *growth) row() {
	g.out.Append(recording.LogFile{
		T: recording.Time(g.last), PID: g.sub.PID, Comm: g.sub.Comm, Path: g.path,
		Inode: uint64(g.sub.PID), Size: g.size, MTime: recording.Time(g.last),
	})
	g.rows++
	g.wrote, g.inside = g.last, false
}

func (g *growth) end() {
	if g.inside {
		g.row()
	}
}
