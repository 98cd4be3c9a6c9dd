package source

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"snag/recording"
)

// Index finds the series of a recording that stand behind evidence.
//
// A selector is name{label="value",…}. A name without a dot is a sample's
// (docs/recording.md): it stands for all series of that name that carry the
// labels, and without a netns label for those of the own namespace only. A name
// with a dot is table.column: "sockets.recv_q", "drops.n"; its labels are columns.
type Index struct {
	own   uint64
	names map[string][]recording.Labels // sets of labels by name
	// perNetns are the names that namespaces have each; the rest is the host's.
	perNetns map[string]bool
}

// NewIndex indexes a recording.
func NewIndex(r *recording.Recording) *Index {
	x := &Index{own: r.Manifest.Netns, names: map[string][]recording.Labels{}, perNetns: map[string]bool{}}
	for _, s := range r.Series {
		x.names[s.Name] = append(x.names[s.Name], s.Labels)
		x.perNetns[s.Name] = x.perNetns[s.Name] || s.Labels["netns"] != ""
	}
	return x
}

// Selectors are those of a source's measures, of what the evidence is about, as far as the
// recording has them.
func (x *Index) Selectors(s Source, about recording.Subject) []string {
	var out []string
	for _, ref := range s.refs {
		selector := ""
		switch {
		case ref.Series == "":
		case strings.Contains(ref.Series, "."):
			selector = tableSelector(ref, about)
		default:
			selector = x.sampleSelector(ref, about)
		}
		if selector != "" && !slices.Contains(out, selector) {
			out = append(out, selector)
		}
	}
	return out
}

// sampleSelector is the name with the labels of the subject that its series carry; "" where
// there is no series like that.
func (x *Index) sampleSelector(ref Ref, about recording.Subject) string {
	netns := ""
	if about.Netns != 0 && about.Netns != x.own && x.perNetns[ref.Series] {
		netns = strconv.FormatUint(about.Netns, 10)
	}
	of := map[string]string{"device": about.Device, "cgroup": about.Cgroup, "handle": about.Handle, "pid": ""}
	if about.PID != 0 {
		of["pid"] = strconv.Itoa(about.PID)
	}
	for _, labels := range x.names[ref.Series] {
		if labels["netns"] != netns || !carries(labels, ref.Labels) || differs(labels, of) {
			continue
		}
		want := recording.Labels{}
		for _, all := range []map[string]string{{"netns": netns}, of, ref.Labels} {
			for key, value := range all {
				if value != "" && labels[key] == value {
					want[key] = value
				}
			}
		}
		return ref.Series + braces(want)
	}
	return ""
}

// carries reports whether a series has all of some labels, differs whether it has another value of
// one that it has.
func carries(labels, want recording.Labels) bool {
	for key, value := range want {
		if labels[key] != value {
			return false
		}
	}
	return true
}

func differs(labels recording.Labels, of map[string]string) bool {
	for key, value := range of {
		if value != "" && labels[key] != "" && labels[key] != value {
			return true
		}
	}
	return false
}

// byProcess are the tables whose rows are of processes and not of sockets.
var byProcess = []string{"processes", "threads", "thread_states", "offcpu", "lock_waits", "events"}

// tableSelector has the columns by which rows of a table belong to a subject; "" where nothing
// narrows them down.
func tableSelector(ref Ref, about recording.Subject) string {
	l := recording.Labels{}
	for k, v := range ref.Labels {
		l[k] = v
	}
	pid := func() {
		if about.PID != 0 {
			l["pid"] = strconv.Itoa(about.PID)
		}
	}
	table, _, _ := strings.Cut(ref.Series, ".")
	if strings.HasPrefix(ref.Labels["kind"], "stream-") {
		return ref.Series + braces(l) // of the stream, whoever makes it stand still
	}
	if slices.Contains(byProcess, table) {
		pid()
	} else if about.Netns != 0 {
		l["netns"] = strconv.FormatUint(about.Netns, 10)
	}
	switch table {
	case "sockets", "holds", "resets", "retransmits", "connections", "turns", "errors", "queries":
		switch {
		case (table == "errors" || table == "queries") && about.PID != 0:
			pid()
		case about.Local != "" && table == "connections", about.Kind == recording.KindListener && !ofListener[ref.Series]:
			l["port"] = recording.Port(about.Local)
		case about.Local != "":
			l["local"] = about.Local
			if about.Remote != "" {
				l["remote"] = about.Remote
			}
		default:
			pid()
		}
	}
	if len(l) == 0 {
		return ""
	}
	return ref.Series + braces(l)
}

// ofListener are the columns that a listener has itself; of the others it has
// those of the connections on its port.
var ofListener = map[string]bool{"sockets.recv_q": true, "sockets.send_q": true, "sockets.drops": true, "sockets.rmem": true}

func braces(l recording.Labels) string {
	if len(l) == 0 {
		return ""
	}
	keys := make([]string, 0, len(l))
	for k := range l {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for i, k := range keys {
		keys[i] = k + "=" + strconv.Quote(l[k])
	}
	return "{" + strings.Join(keys, ",") + "}"
}
