package page

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"snag/recording"
)

// selector is name{label="value",…}, as source.Index writes it.
type selector struct {
	text, name string
	labels     recording.Labels
}

// parseSelector reads one. Values are quoted as Go quotes them.
func parseSelector(text string) (selector, error) {
	s := selector{text: text, labels: recording.Labels{}}
	name, rest, found := strings.Cut(text, "{")
	s.name = name
	if name == "" {
		return s, fmt.Errorf("selector %q: it has no name", text)
	}
	if !found {
		return s, nil
	}
	for rest != "}" {
		label, after, ok := strings.Cut(rest, "=")
		quoted, err := strconv.QuotedPrefix(after)
		if !ok || label == "" || err != nil {
			return s, fmt.Errorf("selector %q: no label=\"value\" at %q", text, rest)
		}
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return s, fmt.Errorf("selector %q: %w", text, err)
		}
		s.labels[label] = value
		rest = strings.TrimPrefix(after[len(quoted):], ",")
	}
	return s, nil
}

// selectorOf writes one, its labels sorted.
func selectorOf(name string, l recording.Labels) string {
	var parts []string
	for k, v := range l {
		parts = append(parts, k+"="+strconv.Quote(v))
	}
	sort.Strings(parts)
	return name + "{" + strings.Join(parts, ",") + "}"
}

// netns is the namespace it asks for, and whether it asks for one.
func (s selector) netns() (uint64, bool) {
	id, err := strconv.ParseUint(s.labels["netns"], 10, 64)
	return id, err == nil
}

// pid is the process it asks for; 0 for none.
func (s selector) pid() int {
	n, err := strconv.Atoi(s.labels["pid"])
	if err != nil {
		return 0
	}
	return n
}

// selects reports whether a sample's series is one of those: without a netns label
// only those of the own namespace are.
func (s selector) selects(series recording.Series) bool {
	for k, v := range s.labels {
		if series.Labels[k] != v {
			return false
		}
	}
	return series.Labels["netns"] == s.labels["netns"]
}
