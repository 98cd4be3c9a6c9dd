package watch

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Labels are what streams are grouped by: key and value, as a list's line or the
// server's own list has them. They are never changed once they are an Entry's.
type Labels map[string]string

// Bounds of a stream's labels.
const (
	maxLabels   = 32
	maxLabelKey = 64
)

// CheckLabelKey reports why a key is none.
func CheckLabelKey(key string) error {
	ok := key != "" && len(key) <= maxLabelKey && !strings.ContainsAny(key[:1], "0123456789.-")
	for _, r := range key {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-')
	}
	if !ok {
		return fmt.Errorf("%q is not a label key: it is letters, digits, _ . and -, and begins with a letter, %d at the most", Clean(key, 40), maxLabelKey)
	}
	return nil
}

// label takes one label of a list's line.
func (e *Entry) label(key, value string) error {
	if err := CheckLabelKey(key); err != nil {
		return err
	}
	value = strings.TrimSpace(value)
	switch {
	case value == "":
		return fmt.Errorf("label.%s= is empty", key)
	case len(e.Labels) >= maxLabels:
		return errors.New("a stream has more than 32 labels")
	case e.Labels == nil:
		e.Labels = Labels{}
	}
	e.Labels[key] = Clean(value, maxName)
	return nil
}

// labels are those that a server's own list gives a stream. What can't be a key is
// left out: the server chose it, and nobody can mend it here.
func (d *Discovery) labels(v vars) Labels {
	e := Entry{}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if slices.Contains(d.kind.label, key) || strings.HasPrefix(key, "meta.") {
			_ = e.label(key, v[key])
		}
		if own, ok := strings.CutPrefix(key, "label."); ok {
			_ = e.label(own, v[key])
		}
	}
	return e.Labels
}

// with are the labels together with another asker's: the first one's hold.
func (l Labels) with(more Labels) Labels {
	out := l
	for key, value := range more {
		if _, there := l[key]; there || len(out) >= maxLabels {
			continue
		}
		if len(out) == len(l) { // those of an entry are never changed
			out = maps.Clone(l)
		}
		if out == nil {
			out = Labels{}
		}
		out[key] = value
	}
	return out
}

// String writes them in the order of their keys.
func (l Labels) String() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(l)) {
		parts = append(parts, key+"="+l[key])
	}
	return strings.Join(parts, " ")
}
