package symbols

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/procroot"
)

// lookAgain: what a process maps, and whether it is still the same, is looked at
// so often at most.
const lookAgain = time.Second

// Image is the program that a process ran when it was looked at: what lay where in
// its memory. It stays what it is when the process ends, runs another program, or
// its pid is given to another.
type Image struct {
	pid    int
	start  uint64
	exe    unix.Stat_t
	maps   []mapping
	err    error // why maps were never read
	gone   bool
	looked time.Time // at who it is
	read   time.Time // its maps
	used   uint64
	known  map[uint64]known
	over   bool   // it runs another program now
	before *Image // what it ran until its last exec; nil: not known
	jit    *perfMap
	jitAt  time.Time
}

type known struct {
	frame Frame
	why   outcome
}

func (p *Image) ended() bool {
	return errors.Is(p.err, fs.ErrNotExist) || errors.Is(p.err, unix.ESRCH)
}

// process is the process that has a pid now, with its maps read; where it has
// ended, the last one that had it.
func (r *Resolver) process(pid int) *Image {
	r.clock++
	p := r.processes[pid]
	now := r.now()
	old := p
	if p != nil && p.over {
		p = nil
	}
	if p != nil && now.Sub(p.looked) >= lookAgain && !p.gone {
		start, err := procroot.StartTime(r.proc, pid)
		exe := r.exe(pid)
		switch {
		case err != nil:
			p.gone = true
		case start != p.start || !sameFile(exe, p.exe):
			p = nil // the pid is another's now, or it runs another program
		default:
			p.looked = now
		}
	} else if p != nil && p.gone {
		if start, err := procroot.StartTime(r.proc, pid); err == nil && start != p.start {
			p = nil
		}
	}
	if p == nil {
		r.makeRoom()
		p = &Image{pid: pid, known: map[uint64]known{}, looked: now, before: old}
		if old != nil {
			old.before = nil // one is enough
		}
		p.start, p.err = procroot.StartTime(r.proc, pid)
		p.exe = r.exe(pid)
		if p.err == nil {
			r.readMaps(p)
		}
		r.processes[pid] = p
	}
	p.used = r.clock
	return p
}

// exe is the file that a process runs; zeros where that may not be known.
func (r *Resolver) exe(pid int) unix.Stat_t {
	var st unix.Stat_t
	if unix.Stat(r.dir(pid)+"/exe", &st) != nil {
		return unix.Stat_t{}
	}
	return st
}

func sameFile(a, b unix.Stat_t) bool { return a.Ino == b.Ino && a.Dev == b.Dev }

func (r *Resolver) dir(pid int) string { return r.proc + "/" + strconv.Itoa(pid) }

func (r *Resolver) readMaps(p *Image) {
	p.read = r.now()
	maps, err := readMaps(r.dir(p.pid) + "/maps")
	if err == nil && len(maps) == 0 {
		err = os.ErrNotExist // it is ending: its memory is gone already
	}
	if err != nil {
		if p.maps == nil {
			p.err = err
		}
		return
	}
	p.maps, p.err = maps, nil
}

// mapping is what an address lies in. Where nothing is known there, the maps are
// read again: a library was loaded since.
func (r *Resolver) mapping(p *Image, addr uint64) (mapping, bool) {
	if m, ok := find(p.maps, addr); ok {
		return m, true
	}
	if r.processes[p.pid] != p || p.gone || r.now().Sub(p.read) < lookAgain {
		return mapping{}, false
	}
	if start, err := procroot.StartTime(r.proc, p.pid); err != nil || start != p.start || !sameFile(r.exe(p.pid), p.exe) {
		p.gone = true // what it maps now is another program's
		return mapping{}, false
	}
	r.readMaps(p)
	return find(p.maps, addr)
}

// makeRoom forgets the process that was not asked for the longest.
func (r *Resolver) makeRoom() {
	if len(r.processes) < r.room {
		return
	}
	var oldest *Image
	for _, p := range r.processes {
		if oldest == nil || p.used < oldest.used {
			oldest = p
		}
	}
	delete(r.processes, oldest.pid)
	r.forgetFrames(oldest) // who holds it may need its maps only
}

// keep keeps the frame of an address. Where there are too many, those of all processes are read again.
func (r *Resolver) keep(p *Image, addr uint64, k known) {
	if len(p.known) >= mostKnown {
		r.forgetFrames(p)
	}
	if r.known >= r.mostKnown {
		for _, other := range r.processes {
			r.forgetFrames(other)
		}
		r.forgetFrames(p)
		r.known = 0 // and those of processes that only a stack holds
	}
	p.known[addr] = k
	r.known++
}

// forgetFrames gives the map back too: one that was cleared stays as large as it was.
func (r *Resolver) forgetFrames(p *Image) {
	r.known = max(0, r.known-len(p.known))
	p.known = map[uint64]known{}
}
