package host

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"snag/internal/kernel"
	"snag/internal/procfile"
	"snag/probes/probe"
	"snag/recording"
)

// Bounds of one reading, so that thousands of processes cost no more than a
// hundredth of a core; what is beyond them takes turns.
const (
	mostStates = 200  // states looked at each second
	fewStates  = 20   // the same in a continuous recording
	mostRows   = 250  // rows written each scan
	mostStats  = 1000 // processes looked at each scan
	mostSearch = 150  // processes without sockets searched again each scan
)

// process is one process while it is followed.
type process struct {
	pid   int
	start uint64
	comm  string
	// Read once a row is written, and again under another name.
	described string
	exe       string
	setting   setting
	cmdline   string
	group     group
	groups    map[string]string // of other hierarchies, where they differ
	kernel    bool
	sockets   bool // has been seen to hold one
	askedFDs  int  // size of its fd directory when it was last searched
	asked     int  // scan at which it was last searched for sockets

	use  use  // of the machine, as of the last scan
	busy bool // it used much of the machine in a scan: it has rows from then on
	now  use  // as of the last look, each second

	running recording.Time // last seen in another state than T
	stopped recording.Time // since when it is in state T; 0: it isn't
}

// processes follows who holds sockets and who is watched.
type processes struct {
	env     *probe.Env
	meter   *meter
	read    *procReader
	known   map[int]*process
	scans   int
	rowFrom int            // the pid whose row was left out last
	turn    map[string]int // whose turn it is, for each sort of work
	queues  queues         // at the machine's CPUs and disks
	ioLooks int            // processes whose disk traffic this scan looked at
	late    int            // processes watched since they run in that queue
}

func newProcesses(env *probe.Env, m *meter, q queues) *processes {
	return &processes{
		env: env, meter: m, queues: q, read: newProcReader(env.Proc, env.Netns), known: map[int]*process{},
		turn: map[string]int{},
	}
}

func (p *processes) measure(scan, last bool) {
	p.meter.run("host.processes", func(t recording.Time) error {
		if err := p.files(t); err != nil {
			p.meter.note("host.processes", err.Error(), "")
		}
		rows := map[int]bool{}
		if scan {
			if err := p.scan(t, rows, last); err != nil {
				return err
			}
		}
		p.watched(t, rows)
		p.states(t, rows)
		return nil
	})
}

// files writes the machine's count of open files.
func (p *processes) files(t recording.Time) error {
	data, err := os.ReadFile(p.env.Proc + "/sys/fs/file-nr")
	if err != nil {
		return err
	}
	line, _ := procfile.CutLine(data)
	allocated, line := procfile.CutField(line)
	_, line = procfile.CutField(line)
	most, _ := procfile.CutField(line)
	a, ok1 := procfile.Number(allocated)
	b, ok2 := procfile.Number(most)
	if !ok1 || !ok2 {
		return fmt.Errorf("read %s/sys/fs/file-nr: not three numbers", p.env.Proc)
	}
	p.env.Sink.Sample(t, "node_filefd_allocated", nil, a)
	p.env.Sink.Sample(t, "node_filefd_maximum", nil, b)
	return nil
}

// scan looks at all processes, finds those that hold sockets, and writes a row
// of each, and of the watched ones.
func (p *processes) scan(t recording.Time, rows map[int]bool, last bool) error {
	pids, err := p.list()
	if err != nil {
		return err
	}
	p.scans++
	all := p.scans == 1 || last
	hidden, searched, written, left := 0, 0, 0, 0
	here := make(map[int]bool, len(pids))
	for _, pid := range pids {
		here[pid] = true
	}
	for pid, one := range p.known {
		if !here[pid] {
			p.ended(t, one)
		}
	}
	if len(pids) <= mostStats { // beyond, all of them take turns already
		pids = startAt(pids, p.rowFrom)
	}
	var busy []busyProcess
	for _, pid := range p.turns("stats", pids, mostStats, all) {
		stat, err := p.read.stat(pid)
		if err != nil {
			continue // it ended meanwhile
		}
		one := p.meet(t, pid, stat)
		busy = p.use(t, one, stat, busy)
		if one.kernel {
			continue
		}
		if !one.sockets && p.due(one, searched) {
			searched++
			var known bool
			if one.sockets, known = p.read.hasSocket(pid); !known {
				hidden++
			}
		}
		if !one.sockets && !p.env.Watch.Has(pid) && pid != p.env.SelfPID {
			continue
		}
		if written < mostRows || p.env.Watch.Has(pid) || all {
			written++
			p.write(t, one, stat)
			rows[pid] = true
			continue
		}
		if left++; left == 1 {
			p.rowFrom = pid // the next scan begins with it
		}
	}
	p.writeBusy(t, busy, rows)
	if left > 0 {
		p.meter.note("host.processes", fmt.Sprintf("more than %d processes hold sockets: their rows take turns every %d s", mostRows, everyRows), "name the target: --pid or --unit")
	}
	if l := kernel.SeesPIDs(p.env.Proc); l != nil {
		p.meter.note("host.processes", "processes outside were not seen: "+l.Why, l.Cure)
	}
	if l := kernel.SeesProcesses(p.env.Proc); l != nil {
		p.meter.note("host.processes", "processes of other users were not seen: "+l.Why, l.Cure)
	}
	if l := kernel.SeesOthers(p.env.Proc); l != nil {
		p.meter.note("host.processes", "what other processes hold was not seen: "+l.Why, l.Cure)
	}
	if hidden > 0 {
		p.meter.note("host.processes", fmt.Sprintf("whether %d processes of other users hold sockets could not be seen", hidden), "run as root, or give the binary CAP_SYS_PTRACE")
	}
	return nil
}

// startAt turns the pids so that pid comes first, if it is still among them.
func startAt(pids []int, pid int) []int {
	if i := slices.Index(pids, pid); i > 0 {
		return slices.Concat(pids[i:], pids[:i])
	}
	return pids
}

// due reports whether a process without sockets is searched again: it may have
// opened one. Where the number of its files is cheap to know, when that changed;
// and all in turn, since one file may have taken another's place.
func (p *processes) due(one *process, searched int) bool {
	size := p.read.fdSize(one.pid)
	if one.asked == 0 || size != one.askedFDs || one.asked < p.scans-3 && searched < mostSearch {
		one.asked, one.askedFDs = p.scans, size
		return true
	}
	return false
}

func (p *processes) list() ([]int, error) {
	dir, err := os.Open(p.env.Proc)
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	var pids []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// turns returns at most most of the pids, others the next time.
func (p *processes) turns(sort string, pids []int, most int, all bool) []int {
	if all || len(pids) <= most {
		return pids
	}
	p.meter.note("host.processes", fmt.Sprintf("%d processes take turns at their %s, %d at a time", len(pids), sort, most), "name the target: --pid or --unit")
	from := p.turn[sort] % len(pids)
	p.turn[sort] = from + most
	out := append([]int(nil), pids[from:min(len(pids), from+most)]...)
	return append(out, pids[:most-len(out)]...)
}

// meet returns the process of that pid, a new one when the pid was given again.
func (p *processes) meet(t recording.Time, pid int, stat procStat) *process {
	one := p.known[pid]
	if one != nil && one.start != stat.Start {
		p.ended(t, one)
		one = nil
	}
	if one == nil {
		one = &process{pid: pid, start: stat.Start, kernel: stat.Kernel}
		p.known[pid] = one
	}
	one.comm = stat.Comm
	p.state(t, one, stat.State)
	return one
}

// watched writes a row per second of each watched process, and reports which ended.
func (p *processes) watched(t recording.Time, rows map[int]bool) {
	for _, pid := range p.env.Watch.PIDs() {
		if rows[pid] {
			continue
		}
		stat, err := p.read.stat(pid)
		if err != nil {
			if gone(err) {
				p.lost(t, pid)
			}
			continue
		}
		old := p.known[pid]
		if old != nil && old.start != stat.Start { // another process has the pid now
			p.lost(t, pid)
			continue
		}
		rows[pid] = true
		p.write(t, p.meet(t, pid, stat), stat)
	}
}

// lost reports that a watched process ended and forgets it.
func (p *processes) lost(t recording.Time, pid int) {
	one := p.known[pid]
	if one == nil {
		one = &process{pid: pid, comm: p.env.Watch.Comm(pid)}
	}
	p.ended(t, one)
}

// ended closes what is open of a process, and reports when it was watched.
func (p *processes) ended(t recording.Time, one *process) {
	delete(p.known, one.pid)
	p.state(t, one, 'X')
	if !p.env.Watch.Has(one.pid) {
		return
	}
	p.env.Watch.Drop(one.pid)
	p.env.Sink.Append(recording.Event{T: t, End: t, Kind: recording.EventProcessGone, Subject: one.subject()})
}

// states looks for stopped processes among those that hold sockets.
func (p *processes) states(t recording.Time, rows map[int]bool) {
	var pids []int
	for pid, one := range p.known {
		if one.sockets && !rows[pid] {
			pids = append(pids, pid)
		}
	}
	most := mostStates
	if p.env.Continuous {
		most = fewStates
	}
	if len(pids) > most {
		slices.Sort(pids) // turns need an order
	}
	for _, pid := range p.turns("state", pids, most, false) {
		one := p.known[pid]
		stat, err := p.read.stat(pid)
		switch {
		case err == nil && stat.Start == one.start:
			p.state(t, one, stat.State)
			p.suspect(t, one, stat)
		case err == nil || gone(err):
			p.ended(t, one)
		}
	}
}

// state follows the stops of one process. 't' is a debugger's, not a stop.
func (p *processes) state(t recording.Time, one *process, state byte) {
	switch {
	case state == 'T' && one.stopped == 0:
		one.stopped = t
		// Who waits for it shows at its sockets, in this stop or the next.
		p.env.Watch.Add(one.pid, "it was stopped")
	case state != 'T':
		if one.stopped != 0 {
			p.stopEvent(one, t)
			one.stopped = 0
		}
		one.running = t
	}
}

// stopEvent writes a stop that ended at end; 0: it goes on.
func (p *processes) stopEvent(one *process, end recording.Time) {
	e := recording.Event{T: one.stopped, End: end, Kind: recording.EventStopped, Subject: one.subject()}
	if one.running != 0 { // it stopped after this: states are looked at once a second
		e.Attrs = map[string]string{"running_at": strconv.FormatInt(int64(one.running), 10)}
	}
	p.env.Sink.Append(e)
}

// goingOn writes the stops that go on.
func (p *processes) goingOn() {
	for _, one := range p.known {
		if one.stopped != 0 {
			p.stopEvent(one, 0)
		}
	}
}

func (one *process) subject() recording.Subject {
	return recording.Subject{Kind: recording.KindProcess, PID: one.pid, Comm: one.comm}
}

// groups returns the control groups of the processes that hold sockets or are
// watched.
func (p *processes) groups() map[group]bool {
	out := map[group]bool{}
	for pid, one := range p.known {
		if one.group.Version != 0 && (one.sockets || p.env.Watch.Has(pid)) {
			out[one.group] = true
		}
	}
	return out
}
