package host

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var diskStall = &suspect.Suspect{
	Name:  "disk-stall",
	Title: "a service waits for a disk that does not keep up",
	About: "Its threads sit in uninterruptible sleep (state D) in a file system or the block layer: a write that must be on the disk before the answer, a read that no cache has. " +
		"Somebody else may keep the disk busy. Heavy disk traffic of a backup while the service does not wait for it is not a stall.",
	Needs: []suspect.Need{
		{Measure: "host.disks", Must: true, Why: "how long the disks' requests took"},
		{Measure: "threads.state", Why: "which threads waited for a disk, and where in the kernel"},
		{Measure: "states", Why: "how much of the time of its requests that was"},
		{Measure: "host.pressure", Why: "how much of the time somebody waited for a disk"},
		{Measure: "host.processes", Why: "who reads and writes"},
		{Measure: "host.kernel-log", Why: "errors of the disk"},
	},
	For: []string{
		"strong: in a third of the samples or more a thread of the service waits for a disk (state D; healthy 1 in 100), or a fifth of the time of its requests was that",
		"strong: so do processes that serve a client each and end before anybody looks at their threads, by the state that they are listed with",
		"strong: the disk has requests under way for 80 % of the time, or of three seconds and more, and one takes 20 ms or more (healthy 0.1–10 ms). Two seconds and half of its time are enough where a fifth of the requests' time was that",
		"strong: the control group's own disk pressure, or the kernel's delay accounting of its threads, a tenth of the time or more",
		"strong: the kernel log has an error of that disk",
		"strong: a limit on its control group's disk traffic, where no disk is slow",
		"weak: another process, or the processes of another unit, moved a third of the disk's bytes or more, or made pages dirty that the disk still has to write. Also such a limit where the disk is slow as well, and the machine's disk pressure",
	},
	Against: []string{
		"decisive: the process reads its own memory back from swap meanwhile: then it is swap",
		"strong: no service that waited was late",
		"a backup that waits for its own disk, however long: it serves no requests",
	},
	LeadsTo: measure.LatencyLeads(suspect.Lead{To: "worker-queue", Lag: measure.FeltWithin}, suspect.Lead{To: "listen-overflow", Lag: 2 * measure.FeltWithin}, suspect.Lead{To: "udp-receive-buffer-full", Lag: measure.FeltWithin}),
	Claims:  []ledger.Account{ledger.Disk},
	Remedy: suspect.Remedy{
		Now:         "systemctl set-property --runtime UNIT 'IOWriteBandwidthMax=/dev/DEVICE BYTES' (of whoever fills the disk)",
		Permanently: "IOWeight= or IOWriteBandwidthMax= in the unit of whoever fills the disk. Or the service's files on a separate disk.",
		Program:     "Fewer syncs and larger writes.",
	},
	Verified: "a request to the disk takes under 10 ms, and no thread is in state D",
	Next:     "iostat -x 1; grep . /proc/PID/task/*/{wchan,stack}; iotop -oP",

	WeighBooked: weighDisk,
}

func weighDisk(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) []suspect.Finding {
	all := disksOf(r)
	if _, ok := r.Measured("threads.state"); !ok {
		for _, d := range all {
			if d.slow() {
				return []suspect.Finding{unfollowedDisk(d)}
			}
		}
		return nil
	}
	var out []suspect.Finding
	for _, b := range blockedProcesses(s, r, l) {
		_, _, limited := limitOf(r, b)
		if (b.brief > 0 || !b.often()) && !(limited && (b.booked > 0 || b.often())) && !slices.ContainsFunc(all, func(d disk) bool { return d.slowFor(b) }) {
			continue // it uses a disk that keeps up, or sleeps for something else
		}
		out = append(out, stalled(s, r, all, b))
		if len(out) == maxWaits {
			break
		}
	}
	return oneDisk(out)
}

// oneDisk puts what waited for one disk together: it is one cause, however many processes wait.
// The one that says most stands for all.
func oneDisk(all []suspect.Finding) (out []suspect.Finding) {
	more := map[string]int{} // processes, by disk
	at := map[string]int{}
	for _, f := range all {
		name := f.Subject.Device
		i, ok := at[name]
		if !ok || name == "" {
			at[name] = len(out)
			out = append(out, f)
			continue
		}
		more[name]++
		other := out[i]
		if says(f) > says(other) {
			out[i], other = f, out[i]
		}
		out[i].Active = intervals.Merge(append(slices.Clone(out[i].Active), other.Active...), measure.Joined)
		out[i].Related = append(slices.Clone(out[i].Related), other.Related...)
	}
	for name, n := range more {
		f := &out[at[name]]
		who := fmt.Sprintf("; %d more processes waited for it", n)
		if n == 1 {
			who = "; one more process waited for it"
		}
		f.Text += who
		f.Related = f.Related[:min(len(f.Related), measure.MostRelated)]
	}
	return out
}

// says is how much speaks for a finding and nothing against it.
func says(f suspect.Finding) (n int) {
	for _, e := range f.Evidence {
		switch {
		case e.Side == suspect.For && e.Grade == suspect.Decisive:
			n += 2
		case e.Side == suspect.For && e.Grade == suspect.Strong:
			n++
		case e.Side == suspect.Against:
			n--
		}
	}
	return n
}

// unfollowedDisk is what can be told of a slow disk where no thread was followed.
func unfollowedDisk(d disk) suspect.Finding {
	return suspect.Finding{
		Subject:  recording.Subject{Kind: recording.KindDisk, Device: d.name},
		Evidence: []suspect.Evidence{d.evidence(), {Side: suspect.Missing, Source: source.Of("threads.state"), Text: "whether a service waited for it was not measured"}},
		Text:     fmt.Sprintf("disk %s takes %s for a request", d.name, units.Lasting(d.each)), Next: "snag find --pid PID of the service that is late",
	}
}

func stalled(s *scene.Scene, r *recording.Recording, all []disk, b blocked) suspect.Finding {
	self := b.process.Subject
	f := suspect.Finding{Subject: self, Active: b.active, Related: []recording.Subject{self}, Evidence: []suspect.Evidence{b.evidence()},
		Text: fmt.Sprintf("%s waited for a disk %s", self.Name, b.words()),
		Next: fmt.Sprintf("grep . /proc/%d/task/*/wchan /proc/%d/task/*/stack; iostat -x 1 5", self.PID, self.PID)}
	var slow *disk
	for i := range all {
		if all[i].slowFor(b) {
			slow = &all[i]
			break
		}
	}
	switch {
	case b.remote:
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Missing, Source: source.Of("nfsiostat 1"), Text: "it waits for a network file system, and its server is not visible from here"})
	case slow != nil:
		f.Subject = recording.Subject{Kind: recording.KindDisk, Device: slow.name}
		f.Evidence = append(f.Evidence, slow.evidence())
		if !b.often() { // one or two looks do not tell when
			f.Active = intervals.Merge(append(slices.Clone(slow.spells), slow.slowest...), measure.Joined)
		}
		f.Text = fmt.Sprintf("disk %s took %s for a request, and %s waited for it %s", slow.name, units.Lasting(max(slow.each, slow.met)), self.Name, b.words())
		f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("The files of %s on a separate disk, or on a faster one than %s.", self.Name, slow.name), Program: "Fewer syncs and larger writes."}
		nameFiller(&f, s, r, b, *slow)
	default:
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Missing, Source: source.Disk, Origin: "diskstats",
			Text: "no disk was slow meanwhile: a limit above the disks, or a file system that waits for itself"})
	}
	addDelays(&f, r, b)
	addLimits(&f, r, b, slow)
	addErrors(&f, r, slow)
	if e := swapsIn(r, b.process); e != nil {
		f.Evidence = append(f.Evidence, *e)
	}
	f.Evidence = append(f.Evidence, felt(s, b.process))
	return f
}

// addDelays adds what the kernel itself counted of the process' waiting.
func addDelays(f *suspect.Finding, r *recording.Recording, b blocked) {
	if b.accounted && b.span > 0 && b.delayed >= delayShare*b.span {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: b.delayed, Unit: "s", Source: source.Of("/proc/PID/task/TID/stat delayacct_blkio_ticks"), Origin: "delay accounting",
			Text: fmt.Sprintf("its threads waited for disks for %s of %s", units.Lasting(b.delayed), units.Lasting(b.span))})
	}
	group := b.process.Last().GroupOf("unified")
	if share, ok := shareOfWindow(r, "snag_cgroup_pressure_io_waiting_seconds_total", "cgroup", group); ok && share >= delayShare {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.Of("io.pressure of "+group, source.GroupWaitsIO), Origin: "group's io pressure",
			Text: fmt.Sprintf("in its control group somebody waited for a disk for %.0f %% of the time", 100*share)})
	}
	if share, ok := shareOfWindow(r, "node_pressure_io_stalled_seconds_total"); ok {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: share, Unit: "share", Source: source.Of("/proc/pressure/io full", source.PressureIO), Origin: "io pressure",
			Text: fmt.Sprintf("all that was ready to run waited for a disk for %.0f %% of the time", 100*share)})
	}
}

// addLimits tells a limit that the process' control group has on a disk. What waits for a disk that
// is not slow waits for its limit: the kernel holds the request back before the disk has it.
func addLimits(f *suspect.Finding, r *recording.Recording, b blocked, slow *disk) {
	fact, group, ok := limitOf(r, b)
	if !ok {
		return
	}
	grade := suspect.Weak
	if slow == nil {
		grade = suspect.Strong
		f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("A higher limit than %s in %s, where it is set (IOReadBandwidthMax=, IOWriteBandwidthMax= of a unit).", fact.Value, fact.Source), Program: "Fewer or smaller requests to the disk."}
	}
	f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: grade, Source: source.Of(fact.Source), Origin: "io.max",
		Text: fmt.Sprintf("its control group %s has a limit on a disk: %s", group, fact.Value)})
	f.Text += fmt.Sprintf("; its control group is limited to %s", fact.Value)
}

// limitOf is the limit that the process' control group has on a disk.
func limitOf(r *recording.Recording, b blocked) (limit recording.Fact, of string, ok bool) {
	if b.process == nil {
		return limit, "", false
	}
	last := b.process.Last()
	for _, fact := range r.Facts {
		if fact.Name != "cgroup.io.max" {
			continue
		}
		path := filepath.Dir(fact.Source)
		for _, group := range []string{last.GroupOf("blkio"), last.GroupOf("unified")} {
			if group != "" && group != "/" && strings.HasSuffix(path, group) {
				return fact, group, true
			}
		}
	}
	return limit, "", false
}

func addErrors(f *suspect.Finding, r *recording.Recording, d *disk) {
	n, line := 0, ""
	for _, e := range r.Events {
		if e.Kind == recording.EventKernelLog && e.Attrs["cause"] == "io-error" && (d == nil || strings.HasPrefix(e.Subject.Device, d.name)) {
			n, line = n+1, e.Attrs["line"]
		}
	}
	if n > 0 {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(n), Unit: "lines", Source: source.Of("dmesg"), Origin: "kernel log",
			Text: fmt.Sprintf("the kernel log has %s of it: %s", units.Plural(n, "error"), line)})
	}
}
