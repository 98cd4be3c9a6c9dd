package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"snag/internal/sorting"
	"snag/readers/reader"
	"snag/recording"
)

// Format is what snag read needs of it.
var Format = reader.Format{
	Name:     "snapshot",
	About:    "files of /proc, a sosreport, outputs of ethtool, tc, ss, netstat, nstat, numastat, sysctl, dmesg",
	Sniff:    Sniff,
	Named:    Named,
	Read:     readOne,
	ReadSet:  readSet,
	Together: true,
}

// mostBytes of one file are read: ss of 40,000 sockets is 20 MB. With more, snag read
// would take over 80 MB.
const mostBytes = 20 << 20

// item is one output: a file, or a command's part of one.
type item struct {
	path    string // of the file
	command string // that printed it, or the file's name: what names the device
	data    []byte
	t       recording.Time
}

func readOne(ctx context.Context, in *reader.Input, o reader.Options, out recording.Sink) (reader.Told, error) {
	return readSet(ctx, []*reader.Input{in}, []reader.Options{o}, out)
}

// readSet reads all that is of one host.
func readSet(ctx context.Context, in []*reader.Input, o []reader.Options, out recording.Sink) (reader.Told, error) {
	watch := &order{out: out, last: map[string]float64{}}
	l := newLook(watch)
	var items []item
	var failed error
	for i := range in {
		if err := ctx.Err(); err != nil {
			failed = err
			break
		}
		data, err := in[i].All(mostBytes)
		failed = errors.Join(failed, err)
		if len(data) == mostBytes {
			l.doubt("%s: what lies behind %d MB is left out", in[i].Path, mostBytes>>20)
		}
		data, cut := cutLines(data)
		if cut {
			l.doubt("%s: what lies behind %d MB of one line is left out", in[i].Path, longestLine>>20)
		}
		l.told.Lines += uint64(bytes.Count(data, []byte{'\n'}))
		items = append(items, l.items(in[i].Path, data)...)
	}
	l.when(items, o)
	sorting.StableBy(items, func(a, b item) int {
		switch {
		case a.t < b.t:
			return -1
		case a.t > b.t:
			return 1
		}
		return 0
	})
	var log []item // last: its times count from a boot that another output tells
	for _, it := range items {
		if k := kindOf(it.data, it.command); k != nil && k.name == "dmesg" {
			log = append(log, it)
			continue
		}
		l.read(it)
	}
	for _, it := range log {
		l.read(it)
	}
	l.end()
	if watch.lower > watch.higher {
		for measure, at := range l.told.Moments {
			l.told.Moments[measure] = at[:1]
		}
		l.doubt("most counters are lower in the later of its outputs: the host was booted in between, or the files' times are not those at which they were made; no rate is made of them")
	}
	return l.told, failed
}

// order watches whether counters grow in the order in which they are read.
type order struct {
	out           recording.Sink
	last          map[string]float64
	lower, higher int
}

// mostWatched counters are compared.
const mostWatched = 20_000

func (w *order) Sample(t recording.Time, name string, labels recording.Labels, v float64) {
	w.out.Sample(t, name, labels, v)
	if !reader.Counts(name) {
		return
	}
	key := recording.Series{Name: name, Labels: labels}.Key()
	before, ok := w.last[key]
	switch {
	case !ok && len(w.last) >= mostWatched:
		return
	case ok && v < before:
		w.lower++
	case ok && v > before:
		w.higher++
	}
	w.last[key] = v
}

func (w *order) Append(row recording.Row) { w.out.Append(row) }

// look is what is gathered of one host at one time, or at some.
type look struct {
	out     recording.Sink
	told    reader.Told
	bad     map[string]int // lines that were not understood, by kind
	devices []string       // in the order in which they came
	nics    map[string]*recording.NIC
	zone    *time.Location
	guessed bool            // a time that no output tells
	seen    map[string]bool // counters of protocols, by table
	names   map[string]bool
}

func newLook(out recording.Sink) *look {
	return &look{out: out, told: reader.Told{Snapshot: true, Moments: map[string][]recording.Time{}}, bad: map[string]int{}, nics: map[string]*recording.NIC{}, seen: map[string]bool{}, names: map[string]bool{}}
}

// mostDoubts are kept.
const mostDoubts = 12

func (l *look) doubt(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); len(l.told.Doubts) < mostDoubts && !slices.Contains(l.told.Doubts, text) {
		l.told.Doubts = append(l.told.Doubts, text)
	}
}

// read reads one output by what it is.
func (l *look) read(it item) {
	k := kindOf(it.data, it.command)
	if k == nil {
		return
	}
	if it.t != 0 {
		if l.told.First == 0 || it.t < l.told.First {
			l.told.First = it.t
		}
		l.told.Last = max(l.told.Last, it.t)
	}
	if n := k.read(l, it); n > 0 {
		l.bad[k.name] += n
	}
}

// counted notes that a measure's counters were read at that time.
func (l *look) counted(measure string, t recording.Time) {
	if all := l.told.Moments[measure]; len(all) == 0 || all[len(all)-1] != t {
		l.told.Moments[measure] = append(all, t)
	}
}

// settled notes that a measure was read which needs no second reading.
func (l *look) settled(measure string, t recording.Time) {
	for _, c := range l.told.Coverage {
		if c.Probe == measure {
			return
		}
	}
	l.told.Coverage = append(l.told.Coverage, recording.Coverage{Probe: measure, State: recording.CoverageOK, Since: t})
}

func (l *look) fact(t recording.Time, name, value, source string) {
	l.told.Facts = append(l.told.Facts, recording.Fact{T: t, Name: name, Value: value, Source: source})
}

// end writes what was gathered over several outputs.
func (l *look) end() {
	for _, d := range l.devices {
		l.out.Append(*l.nics[d])
	}
	var parts []string
	for name, n := range l.bad {
		parts = append(parts, fmt.Sprintf("%d lines of %s", n, name))
	}
	if len(parts) > 0 {
		slices.Sort(parts)
		l.doubt("not understood: %s", strings.Join(parts, ", "))
	}
	if pages := l.told.Moments[nodePages]; len(pages) > 0 && len(l.told.Moments[nodeMemory]) > 0 {
		l.told.Moments["host.numa"] = pages
	}
	delete(l.told.Moments, nodePages)
	delete(l.told.Moments, nodeMemory)
	if l.seen["Udp"] != l.seen["TcpExt"] {
		// What a suspect finds no counter of it would take for still.
		delete(l.told.Moments, "host.netstat")
		l.told.Coverage = append(l.told.Coverage, recording.Coverage{Probe: "host.netstat", State: recording.CoverageUnavailable,
			Why: "only a part of the protocols' counters is there", Cure: "copy both /proc/net/snmp and /proc/net/netstat, or nstat -az"})
	}
}
