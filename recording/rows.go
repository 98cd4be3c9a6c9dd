package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
)

// table is what the writer, the reader and the packer know of one table. All of
// it follows from the row's type, so that a new table costs a type in tables.go,
// a field in Recording and a line in tables.
type table struct {
	name string
	size int64 // of a row, bytes, without what it points to
	// decodeStrict reads one row and refuses columns that it does not know.
	decodeStrict func(line []byte) (Row, error)
	// decoder is what adds the row of one JSON line; with is shared by all of a
	// recording, and used by one at a time.
	decoder func(with *rowReader) func(r *Recording, line []byte) error
	// encode adds a row as JSON.
	encode func(b []byte, row Row) ([]byte, error)
	// add adds a row; false: the row is of another type.
	add func(r *Recording, row Row) bool
	// each calls yield with every row, in order, until it says false.
	each func(r *Recording, yield func(Row) bool)
	// tidy puts the rows in order once all are read.
	tidy func(r *Recording)
	// time of a row; 0 where rows have none.
	time func(row Row) Time
}

// tables lists every table, in the order in which show prints them.
var tables = []table{
	of(func(r *Recording) *[]Process { return &r.Processes }, func(v Process) Time { return v.T }),
	of(func(r *Recording) *[]Exit { return &r.Exits }, func(v Exit) Time { return v.T }),
	of(func(r *Recording) *[]Thread { return &r.Threads }, func(v Thread) Time { return v.T }),
	of(func(r *Recording) *[]ThreadStates { return &r.ThreadStates }, func(v ThreadStates) Time { return v.T }),
	of(func(r *Recording) *[]Socket { return &r.Sockets }, func(v Socket) Time { return v.T }),
	of(func(r *Recording) *[]Drop { return &r.Drops }, func(v Drop) Time { return v.T }),
	of(func(r *Recording) *[]Stack { return &r.Stacks }, func(Stack) Time { return 0 }),
	of(func(r *Recording) *[]Connections { return &r.Connections }, func(v Connections) Time { return v.T }),
	of(func(r *Recording) *[]Reset { return &r.Resets }, func(v Reset) Time { return v.T }),
	of(func(r *Recording) *[]Retransmit { return &r.Retransmits }, func(v Retransmit) Time { return v.T }),
	of(func(r *Recording) *[]Hold { return &r.Holds }, func(v Hold) Time { return v.T }),
	of(func(r *Recording) *[]Turns { return &r.Turns }, func(v Turns) Time { return v.T }),
	of(func(r *Recording) *[]Flow { return &r.Flows }, func(v Flow) Time { return v.T }),
	of(func(r *Recording) *[]Handshakes { return &r.Handshakes }, func(v Handshakes) Time { return v.T }),
	of(func(r *Recording) *[]Segment { return &r.Segments }, func(v Segment) Time { return v.T }),
	of(func(r *Recording) *[]SIPCall { return &r.SIPCalls }, func(v SIPCall) Time { return v.T }),
	of(func(r *Recording) *[]Ports { return &r.Ports }, func(v Ports) Time { return v.T }),
	of(func(r *Recording) *[]HalfOpen { return &r.HalfOpen }, func(v HalfOpen) Time { return v.T }),
	of(func(r *Recording) *[]CallError { return &r.CallErrors }, func(v CallError) Time { return v.T }),
	of(func(r *Recording) *[]Queries { return &r.Queries }, func(v Queries) Time { return v.T }),
	of(func(r *Recording) *[]LogFile { return &r.LogFiles }, func(v LogFile) Time { return v.T }),
	of(func(r *Recording) *[]Library { return &r.Libraries }, func(v Library) Time { return v.T }),
	of(func(r *Recording) *[]ProfileRow { return &r.Profile }, func(v ProfileRow) Time { return v.T }),
	of(func(r *Recording) *[]OnCPU { return &r.OnCPU }, func(v OnCPU) Time { return v.T }),
	of(func(r *Recording) *[]Loop { return &r.Loops }, func(v Loop) Time { return v.T }),
	of(func(r *Recording) *[]OffCPU { return &r.OffCPU }, func(v OffCPU) Time { return v.T }),
	of(func(r *Recording) *[]LockWait { return &r.LockWaits }, func(v LockWait) Time { return v.T }),
	of(func(r *Recording) *[]Call { return &r.Calls }, func(v Call) Time { return v.T }),
	of(func(r *Recording) *[]FD { return &r.FDs }, func(v FD) Time { return v.T }),
	of(func(r *Recording) *[]Qdisc { return &r.Qdiscs }, func(v Qdisc) Time { return v.T }),
	of(func(r *Recording) *[]Link { return &r.Links }, func(v Link) Time { return v.T }),
	of(func(r *Recording) *[]NIC { return &r.NICs }, func(v NIC) Time { return v.T }),
	of(func(r *Recording) *[]Queue { return &r.Queues }, func(v Queue) Time { return v.T }),
	of(func(r *Recording) *[]IRQ { return &r.IRQs }, func(v IRQ) Time { return v.T }),
	of(func(r *Recording) *[]Netns { return &r.Netns }, func(v Netns) Time { return v.T }),
	of(func(r *Recording) *[]Route { return &r.Routes }, func(v Route) Time { return v.T }),
	of(func(r *Recording) *[]Neighbour { return &r.Neighbours }, func(v Neighbour) Time { return v.T }),
	of(func(r *Recording) *[]Rule { return &r.Rules }, func(v Rule) Time { return v.T }),
	of(func(r *Recording) *[]Cgroup { return &r.Cgroups }, func(v Cgroup) Time { return v.T }),
	of(func(r *Recording) *[]Stream { return &r.Streams }, func(v Stream) Time { return v.T }),
	of(func(r *Recording) *[]StreamHop { return &r.StreamHops }, func(v StreamHop) Time { return v.T }),
	of(func(r *Recording) *[]StreamFile { return &r.StreamFiles }, func(v StreamFile) Time { return v.T }),
	of(func(r *Recording) *[]Request { return &r.Requests }, func(v Request) Time { return v.T }),
	of(func(r *Recording) *[]RequestSecond { return &r.RequestSeconds }, func(v RequestSecond) Time { return v.T }),
	of(func(r *Recording) *[]Load { return &r.Loads }, func(v Load) Time { return v.T }),
	of(func(r *Recording) *[]LoadSecond { return &r.LoadSeconds }, func(v LoadSecond) Time { return v.T }),
	of(func(r *Recording) *[]Experiment { return &r.Experiments }, func(v Experiment) Time { return v.T }),
	of(func(r *Recording) *[]Fact { return &r.Facts }, func(v Fact) Time { return v.T }),
	of(func(r *Recording) *[]Event { return &r.Events }, func(v Event) Time { return v.T }),
	lastPerProbe(of(func(r *Recording) *[]Coverage { return &r.Coverage }, func(Coverage) Time { return 0 })),
}

// tableNamed returns the table of that name, or nil.
func tableNamed(name string) *table {
	return tableAt[name]
}

var tableAt = func() map[string]*table {
	at := map[string]*table{}
	for i := range tables {
		at[tables[i].name] = &tables[i]
	}
	return at
}()

// IsTable reports whether a path is that of a recording's table.
func IsTable(path string) bool {
	dir, file := filepath.Split(path)
	name, ok := strings.CutSuffix(file, ".jsonl")
	return ok && filepath.Base(dir) == "tables" && tableNamed(name) != nil
}

func of[T Row](rows func(*Recording) *[]T, at func(T) Time) table {
	var zero T
	return table{
		name: zero.Table(),
		size: int64(reflect.TypeFor[T]().Size()),
		decodeStrict: func(line []byte) (Row, error) {
			var v T
			dec := json.NewDecoder(bytes.NewReader(line))
			dec.DisallowUnknownFields()
			err := dec.Decode(&v)
			return v, err
		},
		decoder: func(with *rowReader) func(r *Recording, line []byte) error {
			c := newCodec[T]()
			return func(r *Recording, line []byte) error {
				c.row = zero
				if !c.usable || !with.read(line, c.columns) {
					var v T
					if err := decodeRow(line, &v); err != nil {
						return err
					}
					c.row = v
				}
				p := rows(r)
				*p = append(*p, c.row)
				return nil
			}
		},
		encode: encoderOf[T](),
		add: func(r *Recording, row Row) bool {
			v, ok := row.(T)
			if ok {
				p := rows(r)
				*p = append(*p, v)
			}
			return ok
		},
		each: func(r *Recording, yield func(Row) bool) {
			for _, v := range *rows(r) {
				if !yield(v) {
					return
				}
			}
		},
		tidy: func(r *Recording) {
			// Stable: rows of one second stay as the probe wrote them.
			all := *rows(r)
			sort.SliceStable(all, func(i, j int) bool { return at(all[i]) < at(all[j]) })
		},
		time: func(row Row) Time {
			if v, ok := row.(T); ok {
				return at(v)
			}
			return 0
		},
	}
}

// lastPerProbe keeps the last coverage row of each probe, where its first stood.
func lastPerProbe(t table) table {
	t.tidy = func(r *Recording) {
		at := map[string]int{}
		var kept []Coverage
		for _, c := range r.Coverage {
			if i, ok := at[c.Probe]; ok {
				kept[i] = c
				continue
			}
			at[c.Probe] = len(kept)
			kept = append(kept, c)
		}
		r.Coverage = kept
	}
	return t
}

var errNotObject = errors.New("not a JSON object")

// decodeRow reads one line. Columns that it does not know are passed over: they
// are from a newer snag of the same version.
func decodeRow(line []byte, v any) error {
	if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' {
		return errNotObject // null and [] would decode to an empty row
	}
	return json.Unmarshal(line, v)
}
