package host

import (
	"fmt"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// nameFiller adds who keeps the disk busy, or why that is not known. A disk that moves little is slow by
// itself, and where the process that waits moved most of it, nobody else is to blame.
func nameFiller(f *suspect.Finding, s *scene.Scene, r *recording.Recording, b blocked, d disk) {
	own, _ := trafficOf(b.process)
	who, others := fillerOf(s, r, b.process, d)
	switch {
	case who == nil && d.bytes < filledBytes*s.Window.End.Sub(s.Window.Start).Seconds() || own.bytes() >= 0.5*d.bytes && d.bytes > 0:
	case who == nil && others == 0:
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Missing, Source: source.Of("/proc/PID/io"), Origin: "process io",
			Text: fmt.Sprintf("who moved the %s of disk %s was not read: the disk traffic of other processes", units.Bytes(d.bytes), d.name)})
		f.Next = "iotop -oP; pidstat -d 1"
	case who == nil:
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Missing, Source: source.Of("/proc/PID/io"), Origin: "process io",
			Text: fmt.Sprintf("no other process moved a third of the %s of disk %s (%s looked at): many did, or the kernel wrote what somebody had made dirty before", units.Bytes(d.bytes), d.name, units.Count(float64(others)))})
		f.Next = "iotop -oP; pidstat -d 1"
	case who.bytes() >= 2*own.bytes():
		who.accuse(f, r, b, d)
	}
}

// filledBytes a second are the least that fill a disk: a spinning disk moves more of small requests.
const filledBytes = 256 << 10

// accuse adds it to the finding.
func (w *filler) accuse(f *suspect.Finding, r *recording.Recording, b blocked, d disk) {
	own, _ := trafficOf(b.process)
	did := fmt.Sprintf("moved %s meanwhile", units.Bytes(w.bytes()))
	text := fmt.Sprintf("%s moved %s to and from disks, %s itself %s; disk %s %s", w.name(), units.Bytes(w.bytes()), b.process.Subject.Name, units.Bytes(own.bytes()), d.name, units.Bytes(w.took))
	if w.buffered() {
		did = fmt.Sprintf("wrote %s into the page cache meanwhile; the disk took %s of it at most", units.Bytes(w.written), units.Bytes(w.took))
		text = fmt.Sprintf("%s made %s dirty in the page cache, which the kernel writes later; disk %s took %s meanwhile, and up to %s waited in memory", w.name(), units.Bytes(w.written), d.name, units.Bytes(w.took), units.Bytes(waitsForDisks(r, w.span)))
	}
	for _, p := range w.all[:min(len(w.all), mostNamed)] {
		f.Related = append(f.Related, p.Subject)
	}
	f.Text += fmt.Sprintf("; %s %s", w.name(), did)
	f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: w.bytes(), Unit: "bytes", Source: source.Of("/proc/PID/io"), Origin: "process io", Text: text})
	f.Remedy = w.remedy(r, b, d)
}

// mostNamed processes of a unit are named.
const mostNamed = 3

// name is the process, or the unit with how many of its processes.
func (w *filler) name() string {
	if len(w.all) == 1 {
		return w.all[0].Subject.Name
	}
	return fmt.Sprintf("%s (%d processes, most by %s)", unitOrGroup(w.all[0]), len(w.all), w.all[0].Subject.Name)
}

// logPlaces are where a task waits for the log of a file system, which all who write to it share. A limit on
// one of them can hold up the log that the others wait for.
var logPlaces = []string{"jbd2_", "wait_transaction", "do_get_write_access", "xlog_", "xfs_log", "btrfs_"}

// remedy slows the filler down, if that does not slow the victim down as well.
func (w *filler) remedy(r *recording.Recording, b blocked, d disk) suspect.Remedy {
	victim, writer := b.process.Subject.Name, w.all[0].Subject
	out := suspect.Remedy{
		Now:         w.now(r, b, d),
		Permanently: fmt.Sprintf("IOWeight=10 or IOWriteBandwidthMax= in the unit of %s. Or the files of %s on a separate disk.", writer.Name, victim),
		Program:     fmt.Sprintf("%s: fewer and slower writes.", writer.Comm),
	}
	if beginsWith(b.place, logPlaces) {
		out.Permanently += fmt.Sprintf(" Where both write to one file system, a limit on %s can delay the log (%s) that %s waits for: then only a separate file system, or another time of day, helps.", writer.Comm, b.place, victim)
	}
	return out
}

// now is a command that surely helps; "" where none does: in one unit or one log with the victim a limit
// holds the victim up too, without bfq or mq-deadline a priority has no effect, and control groups of
// version 1 do not limit what the kernel writes later.
func (w *filler) now(r *recording.Recording, b blocked, d disk) string {
	p := w.all[0]
	if beginsWith(b.place, logPlaces) || d.name == "" {
		return ""
	}
	property := "IOWriteBandwidthMax"
	if w.read > w.written {
		property = "IOReadBandwidthMax"
	}
	if unit := remedy.ManagedUnit(p); unit != "" && unit != b.process.Last().Unit && len(p.Last().Groups) == 0 {
		return remedy.UnitNow(p, property, fmt.Sprintf("/dev/%s %.0f", d.name, max(1<<20, w.perSecond()/slower)))
	}
	if len(w.all) > 1 || w.read <= w.written || !honoursPriority(r, d.name) {
		return ""
	}
	if p.Last().Threads > 1 {
		return fmt.Sprintf("ionice -c 3 -p $(ls /proc/%d/task)", p.Subject.PID)
	}
	return fmt.Sprintf("ionice -c 3 -p %d", p.Subject.PID)
}

// slower is how much slower the filler is made at once.
const slower = 4

// honoursPriority reports whether the disk's scheduler looks at ionice's priorities: bfq, and mq-deadline since
// 5.14 (block/mq-deadline.c).
func honoursPriority(r *recording.Recording, device string) bool {
	scheduler, _ := r.FactOf("disk."+device+".scheduler", 0)
	if scheduler == "bfq" {
		return true
	}
	release, _ := r.FactOf("kernel.release", 0)
	var major, minor int
	_, err := fmt.Sscanf(strings.TrimSpace(release), "%d.%d", &major, &minor)
	return err == nil && scheduler == "mq-deadline" && (major > 5 || major == 5 && minor >= 14)
}
