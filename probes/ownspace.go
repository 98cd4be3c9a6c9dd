package probes

import (
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"snag/internal/netns"
	"snag/recording"
)

// ownSpace passes on what is of one network namespace and leaves out the others' rows, samples and processes: the
// namespace is recorded as if it were a host of its own. What names neither a namespace nor a process is the machine's
// (CPUs, memory, disks) and passes.
//
// BPF programs see all of the machine, so that their rows can only be sorted out here.
type ownSpace struct {
	recording.Sink
	own  uint64
	proc string // root of procfs
	now  func() time.Time

	mu     sync.Mutex
	known  map[int]placed
	groups map[string]bool // control groups that processes of it are in, and those above them
}

// placed is where a process was found.
type placed struct {
	inside bool
	at     time.Time
}

// Numbers of processes are given again; and one that has ended keeps its place for its last rows.
const (
	placeFor   = 5 * time.Second
	mostPlaces = 20000
)

func newOwnSpace(sink recording.Sink, own uint64, proc string) *ownSpace {
	return &ownSpace{Sink: sink, own: own, proc: proc, now: time.Now, known: map[int]placed{}, groups: map[string]bool{}}
}

// Sample implements recording.Sink.
func (o *ownSpace) Sample(at recording.Time, name string, l recording.Labels, v float64) {
	id, _ := strconv.ParseUint(l["netns"], 10, 64)
	pid, _ := strconv.Atoi(l["pid"])
	if o.of(id, pid) && o.uses(l["cgroup"]) {
		o.Sink.Sample(at, name, l, v)
	}
}

// uses reports whether processes of the namespace are in a control group or below it. "": it is not asked for one.
func (o *ownSpace) uses(group string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return group == "" || o.groups[group]
}

// note keeps the control groups of a process.
func (o *ownSpace) note(group string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for ; group != "" && !o.groups[group]; group = group[:max(0, strings.LastIndexByte(group, '/'))] {
		o.groups[group] = true
	}
}

// Append implements recording.Sink.
func (o *ownSpace) Append(row recording.Row) {
	id, pid := placeOf(row)
	if space, is := row.(recording.Netns); is {
		id = space.ID
	}
	if !o.of(id, pid) {
		return
	}
	switch r := row.(type) {
	case recording.Process:
		o.note(r.Cgroup)
	case recording.Cgroup:
		if !o.uses(r.Path) {
			return
		}
	}
	o.Sink.Append(row)
}

// of reports whether something is of the own namespace: by its namespace or, where it has none, by its process.
func (o *ownSpace) of(id uint64, pid int) bool {
	if id != 0 || pid == 0 {
		return id == 0 || id == o.own
	}
	return o.holds(pid)
}

// holds reports whether a process is in the own namespace. One that ended before it was ever looked at is not: nothing
// shows that it was.
func (o *ownSpace) holds(pid int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now()
	was, known := o.known[pid]
	if known && now.Sub(was.at) < placeFor {
		return was.inside
	}
	id, err := netns.IDOf(filepath.Join(o.proc, strconv.Itoa(pid), "ns/net"))
	if err != nil { // it has ended, say
		return was.inside
	}
	if len(o.known) >= mostPlaces {
		clear(o.known)
	}
	o.known[pid] = placed{id == o.own, now}
	return id == o.own
}

// placeOf is the namespace and the process that a row names; 0: none. Most tables have fields of these names.
func placeOf(row recording.Row) (id uint64, pid int) {
	if e, is := row.(recording.Event); is {
		return e.Subject.Netns, e.Subject.PID
	}
	v := reflect.ValueOf(row)
	at := fieldsOf(v.Type())
	if at.netns >= 0 {
		id = v.Field(at.netns).Uint()
	}
	if at.pid >= 0 {
		pid = int(v.Field(at.pid).Int())
	}
	return id, pid
}

type places struct{ netns, pid int } // -1: it has none

var fields sync.Map // places by type: a search by name costs more than the rest

func fieldsOf(t reflect.Type) places {
	if p, ok := fields.Load(t); ok {
		return p.(places)
	}
	p := places{-1, -1}
	if f, ok := t.FieldByName("Netns"); ok && f.Type.Kind() == reflect.Uint64 && len(f.Index) == 1 {
		p.netns = f.Index[0]
	}
	if f, ok := t.FieldByName("PID"); ok && f.Type.Kind() == reflect.Int && len(f.Index) == 1 {
		p.pid = f.Index[0]
	}
	fields.Store(t, p)
	return p
}
