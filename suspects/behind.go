package suspects

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"snag/recording"
	"snag/suspects/suspect"
)

// Behind finds the series of a recording that stand behind pieces of evidence,
// from what their Source says a person can look at. One table maps sources to
// series, so that no suspect has to name them; a suspect that knows better fills
// Evidence.Series itself.
//
// A selector is name{label="value",…}. A name without a dot is a sample's
// (docs/recording.md): it stands for all series of that name that carry the
// labels, and without a netns label for those of the own namespace only. A name
// with a dot is table.column: "sockets.recv_q", "drops.n"; its labels are columns.
type Behind struct {
	own uint64
	// fields of node_netstat_PROTO_FIELD, to the whole names.
	fields map[string][]string
	names  map[string][]recording.Labels // sets of labels by name
	// perNetns are the names that namespaces have each; the rest is the host's.
	perNetns map[string]bool
}

// NewBehind indexes a recording.
func NewBehind(r *recording.Recording) *Behind {
	b := &Behind{own: r.Manifest.Netns, fields: map[string][]string{}, names: map[string][]recording.Labels{}, perNetns: map[string]bool{}}
	for _, s := range r.Series {
		if _, seen := b.names[s.Name]; !seen {
			if rest, ok := strings.CutPrefix(s.Name, "node_netstat_"); ok {
				if _, field, ok := strings.Cut(rest, "_"); ok {
					b.fields[field] = append(b.fields[field], s.Name)
				}
			}
		}
		b.names[s.Name] = append(b.names[s.Name], s.Labels)
		b.perNetns[s.Name] = b.perNetns[s.Name] || s.Labels["netns"] != ""
	}
	return b
}

// Series returns the selectors behind one piece of evidence on a subject; those
// that the suspect named, else those that its Source points to and the recording
// has.
func (b *Behind) Series(e suspect.Evidence, sub recording.Subject) []string {
	if len(e.Series) > 0 || e.Source == "" {
		return e.Series
	}
	var out []string
	add := func(selector string) {
		for _, have := range out {
			if have == selector {
				return
			}
		}
		out = append(out, selector)
	}
	words := strings.FieldsFunc(e.Source, func(c rune) bool { return strings.ContainsRune(" ,;()[]/", c) })
	for _, w := range words {
		for _, name := range b.fields[w] {
			if proto, ok := netstatProto(e.Source); !ok || strings.HasPrefix(name, "node_netstat_"+proto+"_") {
				b.samples(name, sub, add)
			}
		}
		b.word(w, sub, add)
	}
	b.cpu(e.Source, words, add)
	if sub.PID != 0 && processFile.MatchString(e.Source) {
		add("processes.cpu" + braces(recording.Labels{"pid": strconv.Itoa(sub.PID)}))
	}
	for _, s := range sources {
		switch {
		case !strings.Contains(e.Source, s.has):
		case strings.Contains(s.series, "."):
			if l := tableLabels(s.series, e, sub); len(l) > 0 {
				add(s.series + braces(l))
			}
		default:
			b.samples(s.series, sub, add)
		}
	}
	return out
}

// netstatProto is the protocol that a source of /proc/net/snmp names: a field
// such as InErrors is there for several.
func netstatProto(source string) (string, bool) {
	_, rest, ok := strings.Cut(source, "/proc/net/snmp ")
	if !ok || strings.Contains(rest, "/proc/net/") {
		return "", false
	}
	proto, _, ok := strings.Cut(rest, " ")
	return proto, ok
}

// samples adds the selector of a name with the labels of the subject that its
// series carry, where there is a series like that.
func (b *Behind) samples(name string, sub recording.Subject, add func(string)) {
	netns := ""
	if sub.Netns != 0 && sub.Netns != b.own && b.perNetns[name] {
		netns = strconv.FormatUint(sub.Netns, 10)
	}
	want := recording.Labels{}
	for _, labels := range b.names[name] {
		if labels["netns"] != netns || sub.Device != "" && labels["device"] != "" && labels["device"] != sub.Device ||
			sub.Cgroup != "" && labels["cgroup"] != "" && labels["cgroup"] != sub.Cgroup ||
			sub.Handle != "" && labels["handle"] != "" && labels["handle"] != sub.Handle ||
			sub.PID != 0 && labels["pid"] != "" && labels["pid"] != strconv.Itoa(sub.PID) {
			continue
		}
		for key, value := range map[string]string{"netns": netns, "device": sub.Device, "cgroup": sub.Cgroup, "handle": sub.Handle, "pid": strconv.Itoa(sub.PID)} {
			if value != "" && labels[key] == value {
				want[key] = value
			}
		}
		add(name + braces(want))
		return
	}
}

// tableLabels are the columns by which rows of a table belong to a subject; none
// where nothing narrows them down.
func tableLabels(column string, e suspect.Evidence, sub recording.Subject) recording.Labels {
	l := recording.Labels{}
	if sub.Netns != 0 {
		l["netns"] = strconv.FormatUint(sub.Netns, 10)
	}
	table, _, _ := strings.Cut(column, ".")
	switch table {
	case "sockets", "holds", "resets", "retransmits", "connections", "turns", "errors":
		switch {
		case table == "errors" && sub.PID != 0:
			l["pid"] = fmt.Sprint(sub.PID)
		case sub.Local != "" && table == "connections", sub.Kind == recording.KindListener && !ofListener[column]:
			l["port"] = recording.Port(sub.Local)
		case sub.Local != "":
			l["local"] = sub.Local
			if sub.Remote != "" {
				l["remote"] = sub.Remote
			}
		case sub.PID != 0:
			l["pid"] = fmt.Sprint(sub.PID)
		}
	case "processes", "threads":
		delete(l, "netns")
		if sub.PID != 0 {
			l["pid"] = fmt.Sprint(sub.PID)
		}
	case "drops":
		if reason := dropReason(e.Source); reason != "" {
			l["reason"] = reason
		}
	}
	return l
}

// ofListener are the columns that a listener has itself; of the others it has
// those of the connections on its port.
var ofListener = map[string]bool{"sockets.recv_q": true, "sockets.send_q": true, "sockets.drops": true, "sockets.rmem": true}

// dropReason is the kernel's reason that a source names after kfree_skb.
func dropReason(source string) string {
	_, rest, _ := strings.Cut(source, "skb:kfree_skb")
	for _, w := range strings.FieldsFunc(rest, func(c rune) bool { return c == ' ' || c == ',' || c == ';' }) {
		if len(w) > 3 && w == strings.ToUpper(w) && strings.IndexFunc(w, func(c rune) bool { return c >= 'A' && c <= 'Z' }) == 0 {
			return w
		}
	}
	return ""
}

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
