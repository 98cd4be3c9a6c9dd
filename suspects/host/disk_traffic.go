package host

import (
	"cmp"
	"slices"

	"snag/internal/sorting"
	"snag/recording"
	"snag/scene"
)

// traffic is what a process read from and wrote to disks between two of its rows, bytes. Pages that it
// made dirty count as written, whoever sends them to the disk later; those that it dropped again do not.
type traffic struct {
	read, written float64
	span          recording.Interval
}

func (t traffic) bytes() float64 { return t.read + t.written }

// perSecond is the traffic of a second, bytes.
func (t traffic) perSecond() float64 {
	return t.bytes() / max(1, t.span.End.Sub(t.span.Start).Seconds())
}

// trafficOf is a process' traffic in the window; false: it was not read twice.
func trafficOf(p *scene.Process) (traffic, bool) {
	var first, last *recording.Process
	for i := range p.Rows {
		if p.Rows[i].ReadBytes == nil || p.Rows[i].WrittenBytes == nil {
			continue
		}
		if first == nil {
			first = &p.Rows[i]
		}
		last = &p.Rows[i]
	}
	if first == last {
		return traffic{}, false
	}
	out := traffic{
		read: grew(last.ReadBytes, first.ReadBytes), written: grew(last.WrittenBytes, first.WrittenBytes),
		span: recording.Interval{Start: first.T, End: last.T},
	}
	if first.CancelledBytes != nil && last.CancelledBytes != nil {
		out.written = max(0, out.written-grew(last.CancelledBytes, first.CancelledBytes))
	}
	return out, true
}

func grew(now, before *uint64) float64 { return max(0, float64(*now)-float64(*before)) }

// filler is who keeps a disk busy: a process, or the processes of one unit or control group.
type filler struct {
	traffic
	all  []*scene.Process // the one with the most traffic first
	took float64          // what the disk moved meanwhile, bytes
}

// Shares of what a disk moved. To which disk a process writes is not told by its counters: it is who moved
// a good part of what the disk did, and hardly more.
const (
	fillsDisk = 0.3
	onlyDisk  = 1.5
)

// fits reports whether the traffic can be this disk's. Who made more dirty than the disk took is one too where
// as much waits in memory to be written.
func (f filler) fits(r *recording.Recording) bool {
	n := f.bytes()
	if n < fillsDisk*f.took || n <= 0 {
		return false
	}
	return n <= onlyDisk*f.took || f.buffered() && !ofChildren(f.all[0]) && 2*waitsForDisks(r, f.span) >= n-f.took
}

// ofChildren reports that what a process used is rather that of its children that ended, as of a shell: the
// kernel adds it at once when they end, whenever and to whichever disk they wrote.
func ofChildren(p *scene.Process) bool {
	return p.Last().ChildrenCPU-p.First().ChildrenCPU > p.Last().CPU-p.First().CPU
}

// buffered reports that the kernel writes later what was made dirty: more than the disk took.
func (f filler) buffered() bool { return f.written > f.read && f.bytes() > onlyDisk*f.took }

// waitsForDisks is the most that was in the page cache and had to be written to some disk, bytes; 0 where
// that was not measured.
func waitsForDisks(r *recording.Recording, span recording.Interval) (most float64) {
	at := map[recording.Time]float64{}
	for _, name := range []string{"node_memory_Dirty_bytes", "node_memory_Writeback_bytes"} {
		for _, s := range r.Select(name) {
			for _, p := range s.Points {
				if p.T >= span.Start && p.T <= span.End {
					at[p.T] += p.V
					most = max(most, at[p.T])
				}
			}
		}
	}
	return most
}

// fillerOf finds who fills a disk while a process waits for it; nil: nobody who was looked at. others is of how
// many other processes the traffic is known.
func fillerOf(s *scene.Scene, r *recording.Recording, victim *scene.Process, d disk) (who *filler, others int) {
	units := map[string]*filler{}
	var found []*filler
	for _, p := range s.Processes {
		if p == victim || p.Subject.PID == r.Manifest.SelfPID || p.Subject.PID == victim.First().PPID { // whose counters take those of its children that ended
			continue
		}
		t, ok := trafficOf(p)
		if !ok {
			continue
		}
		others++
		took, _ := d.moves.Between(t.span)
		one := &filler{traffic: t, all: []*scene.Process{p}, took: took}
		found = append(found, one)
		if of := unitOrGroup(p); of != "" && of != unitOrGroup(victim) {
			if units[of] == nil {
				units[of] = &filler{}
			}
			units[of].add(*one, d)
		}
	}
	for _, f := range units {
		if len(f.all) > 1 {
			found = append(found, f)
		}
	}
	found = slices.DeleteFunc(found, func(f *filler) bool { return !f.fits(r) })
	if len(found) == 0 {
		return nil, others
	}
	return slices.MinFunc(found, func(a, b *filler) int {
		cached := func(f *filler) int {
			if f.buffered() {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(cached(a), cached(b)), cmp.Compare(len(a.all), len(b.all)), cmp.Compare(b.bytes(), a.bytes()), cmp.Compare(a.all[0].Subject.PID, b.all[0].Subject.PID))
	}), others
}

// add puts one more process to those of a unit.
func (f *filler) add(one filler, d disk) {
	f.all = append(f.all, one.all...)
	sorting.StableBy(f.all, func(a, b *scene.Process) int {
		of := func(p *scene.Process) float64 { t, _ := trafficOf(p); return t.bytes() }
		return cmp.Compare(of(b), of(a))
	})
	f.read, f.written = f.read+one.read, f.written+one.written
	if f.span.Start == 0 || one.span.Start < f.span.Start {
		f.span.Start = one.span.Start
	}
	f.span.End = max(f.span.End, one.span.End)
	f.took, _ = d.moves.Between(f.span)
}

// unitOrGroup is a process' systemd unit, else its control group; "" where it is in the root.
func unitOrGroup(p *scene.Process) string {
	last := p.Last()
	if group := last.GroupOf("unified"); last.Unit == "" && group != "/" {
		return group
	}
	return last.Unit
}
