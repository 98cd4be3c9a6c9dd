package exporter

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fewInstances are asked for by name; of more the store is asked for all.
const fewInstances = 200

// only is the matcher of the hosts that are asked for; "": all.
func only(these []*Host) string {
	names := map[string]bool{}
	for _, h := range these {
		names[regexp.QuoteMeta(h.instance)] = true
	}
	if len(names) > fewInstances {
		return ""
	}
	return "instance=~" + strconv.Quote(strings.Join(slices.Sorted(maps.Keys(names)), "|"))
}

// Read reads the counters of these hosts and finds the signs in them: first those of the last minutes, then the hour
// before of what looks wrong alone, as an hour of every counter is most of what a store would have to read. What the
// store refuses is in Failed, and is not seen; an error is what ends all queries.
func (hs *Hosts) Read(ctx context.Context, q Querier, these []*Host) error {
	if len(these) == 0 {
		return nil
	}
	all := map[key]*values{}
	for _, h := range these {
		all[h.key] = newValues()
	}
	for _, c := range collectors {
		if err := hs.ask(ctx, q, c, only(these), all, false); err != nil {
			return err
		}
	}
	wrong, signed := map[string]bool{"stat": true}, []*Host{} // stat shows how much of the hour is known
	for _, h := range these {
		if h.judge(all[h.key], hs.At, wrong); len(h.Signs) > 0 {
			signed = append(signed, h)
		}
	}
	if len(wrong) == 1 {
		return nil
	}
	for _, c := range collectors {
		if wrong[c.name] {
			if err := hs.ask(ctx, q, c, only(signed), all, true); err != nil {
				return err
			}
		}
	}
	for _, h := range signed {
		h.judge(all[h.key], hs.At, wrong)
	}
	return nil
}

// ask asks for what a collector has.
func (hs *Hosts) ask(ctx context.Context, q Querier, c collector, only string, all map[key]*values, usual bool) error {
	expression := c.query(only, usual)
	if expression == "" {
		return nil
	}
	answer, err := q.Query(ctx, expression, hs.At)
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		hs.Failed = append(hs.Failed, fmt.Sprintf("node_exporter's %s%s: %v", c.name, map[bool]string{true: " in the hour before"}[usual], err))
		return nil
	}
	for _, text := range answer.Warnings {
		hs.warn(text)
	}
	for _, s := range answer.Samples {
		if v := all[keyOf(s.Labels)]; v != nil {
			v.set(usual, s.Labels, s.Value)
		}
	}
	return nil
}

func (hs *Hosts) warn(text string) {
	if text = "the store: " + text; !slices.Contains(hs.Failed, text) {
		hs.Failed = append(hs.Failed, text)
	}
}

// values are the numbers of one host, by what was asked and, where there is one for each, by the label's value.
type values struct{ now, usual map[string]map[string]float64 }

func newValues() *values {
	return &values{map[string]map[string]float64{}, map[string]map[string]float64{}}
}

func (v *values) set(usual bool, l map[string]string, x float64) {
	to := v.now
	if usual {
		to = v.usual
	}
	name, each := l["asked"], l["device"]
	if to[name] == nil {
		to[name] = map[string]float64{}
	}
	to[name][each] = x
}

// known reports whether the hour before was: the host was scraped for at least half of it, as often as it is now.
func (v *values) known() bool {
	now, here := v.now["samples"][""]
	earlier, there := v.usual["samples"][""]
	return here && there && earlier >= now*before.Seconds()/Window.Seconds()/2
}

// grown is by how much a count grew in a Window.
func grown(perSecond float64) float64 { return perSecond * Window.Seconds() }

// ago is how long before the time that is asked for something was.
func ago(at time.Time, seconds float64) time.Duration {
	return at.Sub(time.UnixMilli(int64(1000 * seconds)))
}
