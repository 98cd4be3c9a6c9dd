package host

import (
	"cmp"
	"fmt"
	"sort"
	"strings"

	"snag/internal/sorting"
	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// disk is what one disk did in the window.
type disk struct {
	name     string
	busy     float64              // share of the time in which a request was under way, of the spells in which it hardly stopped, if there are any
	spells   []recording.Interval // these
	requests float64
	each     float64 // s that a request took, in its queue and on the disk
	met      float64 // the same in those seconds, the slowest, in which half of that time was spent
	slowest  []recording.Interval
	bytes    float64
	moves    measure.Steps // of these bytes
	steps    measure.Steps // of the time that requests took
}

// disksOf are the disks that did something, those whose requests waited longest
// together first.
func disksOf(r *recording.Recording) []disk {
	var out []disk
	waited := map[string]float64{}
	for _, s := range r.Select("node_disk_io_time_seconds_total") {
		d := disk{name: s.Labels["device"], steps: measure.StepsOf(s)}
		busy, ok := shareOfWindow(r, s.Name, "device", d.name)
		if !ok {
			continue
		}
		d.busy = busy
		if share, spells := d.steps.Spells(busyDisk); len(spells) >= fewBlocked {
			d.busy, d.spells = share, spells
		}
		grown := func(name string) float64 {
			for _, s := range r.Select(name, "device", d.name) {
				n, _ := s.Increase()
				return n
			}
			return 0
		}
		// What is in flight has not been counted as done: its time is in the weighted one.
		took := grown("node_disk_read_time_seconds_total") + grown("node_disk_write_time_seconds_total") + grown("node_disk_flush_requests_time_seconds_total")
		took = max(took, grown("node_disk_io_time_weighted_seconds_total"))
		d.requests = grown("node_disk_reads_completed_total") + grown("node_disk_writes_completed_total") + grown("node_disk_flush_requests_total")
		for _, name := range []string{"node_disk_read_bytes_total", "node_disk_written_bytes_total"} {
			d.bytes += grown(name)
			for _, s := range r.Select(name, "device", d.name) {
				d.moves = append(d.moves, measure.StepsOf(s)...)
			}
		}
		if took > 0 {
			d.each = took / max(1, d.requests)
		}
		for _, kind := range [][2]string{{"node_disk_read_time_seconds_total", "node_disk_reads_completed_total"}, {"node_disk_write_time_seconds_total", "node_disk_writes_completed_total"}} {
			// Where flushes return at once, they make writes no quicker.
			if n, t := grown(kind[1]), grown(kind[0]); n > 0 && 2*t > took {
				d.each = max(d.each, t/n)
			}
		}
		d.met, d.slowest = metBy(r, d.name)
		waited[d.name] = took
		out = append(out, d)
	}
	sort.SliceStable(out, func(i, j int) bool { return waited[out[i].name] > waited[out[j].name] })
	return out
}

// What a disk that has become the bottleneck looks like. A solid state disk
// answers in 0.1 to 1 ms and a spinning one in 5 to 10; either may be under way
// all the time and keep up, so that both are asked for.
const (
	busyDisk = 0.8
	slowDisk = 0.02 // s per request
)

func (d disk) slow() bool { return d.busy >= busyDisk && d.each >= slowDisk }

// slowFor reports whether the disk explains what a process waited. One that syncs, computes and
// syncs again need not keep it under way: where the looks at its threads tell how much of its
// requests' time that was, it matters how long the disk took while they waited.
func (d disk) slowFor(b blocked) bool { return d.slow() || b.booked > 0 && d.met >= slowDisk }

// metBy is how long a request to a disk took in the slowest seconds, in which half of the
// time of all of them was spent, and these seconds.
func metBy(r *recording.Recording, device string) (met float64, slowest []recording.Interval) {
	took, done := map[recording.Interval]float64{}, map[recording.Interval]float64{}
	for _, kind := range []string{"read", "write"} {
		for _, s := range r.Select("node_disk_"+kind+"_time_seconds_total", "device", device) {
			for _, one := range measure.StepsOf(s) {
				took[one.Interval] += one.N
			}
		}
		for _, s := range r.Select("node_disk_"+kind+"s_completed_total", "device", device) {
			for _, one := range measure.StepsOf(s) {
				done[one.Interval] += one.N
			}
		}
	}
	all, sum := []recording.Interval{}, 0.0
	for i, t := range took {
		if done[i] > 0 {
			all, sum = append(all, i), sum+t
		}
	}
	sorting.By(all, func(a, b recording.Interval) int {
		return cmp.Or(cmp.Compare(took[b]/done[b], took[a]/done[a]), cmp.Compare(a.Start, b.Start))
	})
	time, requests := 0.0, 0.0
	for _, i := range all {
		time, requests, slowest = time+took[i], requests+done[i], append(slowest, i)
		if 2*time >= sum {
			break
		}
	}
	if len(slowest) < slowSeconds || requests == 0 {
		return 0, nil
	}
	return time / requests, slowest
}

func (d disk) evidence() suspect.Evidence {
	if !d.slow() {
		return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: d.met, Unit: "s", Source: source.Disk.As("/proc/diskstats " + d.name), Origin: "diskstats",
			Text: fmt.Sprintf("in %d seconds, which are half of the time of its requests, disk %s took %s for one (healthy under 10 ms)", len(d.slowest), d.name, units.Lasting(d.met))}
	}
	of := "the time"
	if len(d.spells) > 0 {
		of = units.Lasting(intervals.Seconds(d.spells, 0))
	}
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: d.each, Unit: "s", Source: source.Disk.As("/proc/diskstats " + d.name), Origin: "diskstats",
		Text: fmt.Sprintf("disk %s had requests under way for %.0f %% of %s, and one took %s (healthy under 10 ms): %s requests, %s", d.name, 100*min(1, d.busy), of, units.Lasting(d.each), units.Count(d.requests), units.Bytes(d.bytes))}
}

// diskPlaces are the kernel functions in which a task waits for a disk or for a
// file system that does, by their beginnings without underscores; remotePlaces those of a
// file system on the network.
var (
	diskPlaces = []string{"folio_wait", "wait_on_page", "wait_on_buffer", "io_schedule", "bit_wait_io", "jbd2_", "wait_transaction", "do_get_write_access",
		"ext4_", "xfs_", "xlog_", "btrfs_", "f2fs_", "blk_", "blkdev_", "bio_", "submit_bio", "rq_qos_", "wbt_", "balance_dirty", "iomap_", "dio_", "do_blockdev_direct", "md_", "dm_", "filemap_", "lock_page", "folio_lock"}
	remotePlaces = []string{"nfs", "rpc_", "cifs_", "wait_for_response", "ceph_", "fuse_", "request_wait_answer"}
)

func beginsWith(name string, all []string) bool {
	name = strings.TrimLeft(name, "_")
	for _, p := range all {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// blocked is how often the threads of a process were found waiting for a disk.
type blocked struct {
	process       *scene.Process
	seen, looks   int     // seconds in which one of them was, and all
	booked        float64 // share of the time of its requests, by the states of its threads
	place, call   string
	remote        bool
	active        []recording.Interval
	delayed, span float64 // s, by delay accounting
	accounted     bool
	brief         int // processes of its name and parent, which ended before anybody looked at their threads; 0: its own were looked at
}

func (b blocked) share() float64 { return float64(b.seen) / float64(b.looks) }

// often reports that the looks at its threads each second are enough to say so.
func (b blocked) often() bool { return b.seen >= fewBlocked && b.share() >= blockedShare }

// blockedShare of the looks that find a thread in uninterruptible sleep is what a
// stalled process shows. One that logs or commits to a healthy disk waits 1 ms
// each time and is found so in one look of a hundred.
// Twenty looks per second at the threads of a service tell it better: what its requests spend on a
// healthy disk is under a tenth of their time, or not slow.
const (
	blockedShare = 0.3
	fewBlocked   = 3
	slowSeconds  = 2
	bookedToDisk = 0.2
)

// blockedProcesses are those with sockets whose threads were followed and found
// waiting for a disk, the worst first.
func blockedProcesses(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) []blocked {
	var out []blocked
	waited := diskSeconds(r)
	for _, p := range s.Processes {
		if len(p.Sockets) == 0 || p.Subject.PID == r.Manifest.SelfPID {
			continue
		}
		b := blocked{process: p}
		seconds := map[recording.Time]bool{}
		places := map[string]int{}
		for _, t := range p.Threads {
			for _, row := range t.Rows {
				at := recording.Time(int64(row.T) / 1e9)
				waits := row.State == "D" && (row.Wchan == "" || beginsWith(row.Wchan, diskPlaces) || beginsWith(row.Wchan, remotePlaces))
				seconds[at] = seconds[at] || waits
				if waits {
					places[row.Wchan+" "+row.Syscall]++
				}
			}
			if a, z := t.Rows[0], t.Rows[len(t.Rows)-1]; a.IODelay != nil && z.IODelay != nil && *z.IODelay >= *a.IODelay {
				b.accounted = true
				b.delayed += *z.IODelay - *a.IODelay
				b.span = max(b.span, z.T.Sub(a.T).Seconds())
			}
		}
		for at, waits := range seconds {
			b.looks++
			if waits {
				b.seen++
				b.active = append(b.active, recording.Interval{Start: at * 1e9, End: at*1e9 + 1e9})
			}
		}
		most := 0
		for place, n := range places {
			if wchan, call, _ := strings.Cut(place, " "); n > most || n == most && wchan > b.place {
				most, b.place, b.call = n, wchan, call
			}
		}
		b.remote = beginsWith(b.place, remotePlaces)
		b.active = fromBefore(intervals.Merge(append(b.active, waited[p.Subject.PID]...), measure.Joined), firstLook(p), s.Window)
		if share, ok := l.Share(p.Subject.PID, ledger.Disk); ok && share >= bookedToDisk {
			b.booked = share
		}
		if b.booked > 0 || b.often() {
			out = append(out, b)
		}
	}
	out = append(out, blockedBriefly(l)...)
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].booked != out[j].booked {
			return out[i].booked > out[j].booked
		}
		return out[i].seen > out[j].seen
	})
	return out
}

// diskSeconds are the seconds in which a thread of a process was found waiting for a disk at a
// quarter of the looks or more, by process.
func diskSeconds(r *recording.Recording) map[int][]recording.Interval {
	out := map[int][]recording.Interval{}
	for _, row := range r.ThreadStates {
		if row.State == "D" && row.IO && 4*row.N >= row.Looks {
			out[row.PID] = append(out[row.PID], recording.Interval{Start: row.T, End: row.T + 1e9})
		}
	}
	return out
}

// blockedBriefly are processes that serve a client each and end before anybody looks at their
// threads, those of each service: they are told by the states that they were listed with. The one
// that was found asleep first stands for them all.
func blockedBriefly(l *ledger.Ledger) (out []blocked) {
	if l == nil {
		return nil
	}
	for _, party := range l.Parties {
		x := party.Strangers
		b := blocked{seen: x.Asleep, looks: x.Looks, brief: len(x.Processes)}
		for _, p := range x.Processes {
			for _, row := range p.Rows {
				if row.State != "D" {
					continue
				}
				at := recording.Time(int64(row.T) / 1e9 * 1e9)
				b.active = append(b.active, recording.Interval{Start: at, End: at + 1e9})
				b.process = cmp.Or(b.process, p)
			}
		}
		b.active = intervals.Merge(b.active, 0)
		if b.often() && intervals.Seconds(b.active, l.Window.End) >= fewBlocked {
			b.active = intervals.Merge(b.active, measure.Joined)
			out = append(out, b)
		}
	}
	return out
}

// words say how much it waited.
func (b blocked) words() string {
	if b.booked > 0 {
		return fmt.Sprintf("for %.0f %% of the time of its requests", 100*b.booked)
	}
	return fmt.Sprintf("in %d of %d samples", b.seen, b.looks)
}

func (b blocked) evidence() suspect.Evidence {
	where := ""
	if b.place != "" {
		where = " in " + b.place
	}
	if b.call != "" && b.call != "none" {
		where += " (" + b.call + ")"
	}
	if b.brief > 0 {
		return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: b.share(), Unit: "share", Source: source.Stat.As("/proc/PID/stat"), Origin: "thread states",
			Text: fmt.Sprintf("%s one of %d processes named %s was in an uninterruptible sleep (state D): each serves a client and ended before its threads were looked at", b.words(), b.brief, b.process.Subject.Comm)}
	}
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: max(b.booked, b.share()), Unit: "share", Source: source.Stat.As("/proc/PID/task/TID/stat, wchan"), Origin: "thread states",
		Text: fmt.Sprintf("%s a thread of %s waited for a disk (state D)%s", b.words(), b.process.Subject.Name, where)}
}
