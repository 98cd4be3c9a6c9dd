package hosts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"snag/fleet/prom"
	"snag/internal/units"
)

// startSeries is when a recorder began, in seconds since the epoch: two that run at the same time differ in it.
const startSeries = "snag_record_start_timestamp_seconds"

// sharedSeries has the label sharedLabel for each host whose name several recorders send with equal labels. They write
// to one series, of which the store refuses some samples (out of order), and the start in it goes forth and back. A
// restart only goes forth, unless the clock was set back before it.
const (
	sharedLabel  = "snag_record_shared"
	sharedSeries = `label_replace(resets(` + startSeries + `[5m]) > 0, "` + sharedLabel + `", "yes", "", "")`
)

// shared finds the other hosts whose name several recorders send. The store mixes their values, so nothing is known of
// such a host. ups are the labels of the series snag_record_up of each host.
func (r *reader) shared(ctx context.Context, ups map[*Host][]map[string]string) error {
	var names []string
	for h, all := range ups {
		if len(apart(all)) > 1 {
			names = append(names, h.Name)
		}
	}
	slices.Sort(names)
	fresh, starts := map[*Host][]map[string]string{}, map[string]float64{}
	err := r.chunks(names, func(these string) error {
		// A store shows what a recorder with other labels sent before for 5 more minutes.
		if err := r.all(ctx, "timestamp(snag_record_up{instance=~"+these+"})", func(h *Host, s prom.Sample) {
			if sent := time.UnixMilli(int64(1000 * s.Value)).Add(-h.Ahead); r.At.Sub(sent) <= quiet {
				fresh[h] = append(fresh[h], s.Labels)
			}
		}, false); err != nil {
			return err
		}
		return r.all(ctx, startSeries+"{instance=~"+these+"}", func(_ *Host, s prom.Sample) {
			starts[labelText(s.Labels)] = s.Value
		}, false)
	})
	for h, all := range fresh {
		if n, differ := recorders(apart(all), starts); n > 1 {
			h.Shared = fmt.Sprintf("%s have this name and differ in %s", units.Plural(n, "recorder"), strings.Join(differ, ", "))
		}
	}
	return err
}

// apart are the label sets without those that differ only in which server collected the series.
func apart(all []map[string]string) []map[string]string {
	by := map[string]map[string]string{}
	for _, l := range all {
		own := maps.Clone(l)
		maps.DeleteFunc(own, func(name, _ string) bool { return ofCollector(name) })
		by[labelText(own)] = l
	}
	return slices.Collect(maps.Values(by))
}

// ofCollector reports whether a pair of servers that collect the same series tells its copies apart by this label: two
// Prometheus servers with the same targets, or receivers of Thanos. A recorder itself sends instance, job and what
// --remote-write-label adds.
func ofCollector(label string) bool { return strings.Contains(label, "replica") || label == "receive" }

// recorders counts those behind the series of one host. One that sends and is also scraped has two series with one
// start. differ are the labels that are not the same in all of them.
func recorders(all []map[string]string, starts map[string]float64) (n int, differ []string) {
	known := map[float64]bool{}
	names := map[string]bool{}
	for _, l := range all {
		if start, has := starts[labelText(l)]; !has { // of an earlier version
			n++
		} else if !known[start] {
			known[start] = true
			n++
		}
		for name := range l {
			names[name] = true
		}
	}
	for name := range names {
		if !ofCollector(name) && slices.ContainsFunc(all, func(l map[string]string) bool { return l[name] != all[0][name] }) {
			differ = append(differ, name)
		}
	}
	slices.Sort(differ)
	return n, differ
}

// labelText is a label set as a key, without the name of the series.
func labelText(l map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(l)) {
		if name != "__name__" {
			fmt.Fprintf(&b, "%q=%q ", name, l[name])
		}
	}
	return b.String()
}

// mixed are sentences on the hosts whose name several recorders send.
func (f *Fleet) mixed() (out []string) {
	for _, name := range f.names() {
		if why := f.Hosts[name].Shared; why != "" {
			out = append(out, fmt.Sprintf("%s: %s; give each its own label instance", name, why))
		}
	}
	return out
}
