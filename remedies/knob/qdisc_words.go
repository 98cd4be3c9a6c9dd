package knob

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// defaultWord begins the text of a root qdisc that nobody made: the kernel attached it
// by net.core.default_qdisc, and attaches it again when another is deleted.
const defaultWord = "default"

// qdiscText is a whole qdisc in words that tc(8) takes: "fq limit 10000 flow_limit 100".
type qdiscText struct {
	kind      *qdiscKind
	name      string // of the kind; a default one may be a kind that is not in the table
	isDefault bool
	values    qdiscValues
}

// parseQdisc reads such words. An option that is not named is left to the kernel.
func parseQdisc(text string) (q qdiscText, err error) {
	words := strings.Fields(text)
	if len(words) > 0 && words[0] == defaultWord {
		q.isDefault = true
		words = words[1:]
		if len(words) == 1 {
			q.name = words[0]
			return q, nil
		}
		return q, fmt.Errorf("%q is not a qdisc: default is followed by its kind alone", text)
	}
	if len(words) == 0 {
		return q, fmt.Errorf("%q is not a qdisc: it is a kind and its options, as \"fq limit 10000 flow_limit 100\"", text)
	}
	var ok bool
	q.name = words[0]
	if q.kind, ok = qdiscKindOf(words[0]); !ok {
		return q, fmt.Errorf("%q is not a kind of qdisc that snag makes. It makes %s", words[0], strings.Join(qdiscNames(), ", "))
	}
	q.values = qdiscValues{}
	for words = words[1:]; len(words) > 0; {
		name, values, rest, err := q.kind.take(words)
		if err != nil {
			return q, err
		}
		if _, twice := q.values[name]; twice {
			return q, fmt.Errorf("%s has %s twice", q.name, name)
		}
		q.values[name] = values
		words = rest
	}
	return q, nil
}

func qdiscNames() []string {
	var all []string
	for _, k := range qdiscKinds {
		all = append(all, k.name)
	}
	return all
}

// take reads one option from the words.
func (k *qdiscKind) take(words []string) (name string, values []uint64, rest []string, err error) {
	for i := range k.options {
		o := &k.options[i]
		if o.unit == toggle && words[0] == o.off {
			return o.Name, []uint64{0}, words[1:], nil
		}
		if words[0] != o.Name {
			continue
		}
		if o.unit == toggle {
			return o.Name, []uint64{1}, words[1:], nil
		}
		n := max(o.count, 1)
		if len(words) < 1+n {
			return "", nil, nil, fmt.Errorf("%s %s needs %d numbers", k.name, o.Name, n)
		}
		for _, w := range words[1 : 1+n] {
			v, err := o.parse(w)
			if err != nil {
				return "", nil, nil, fmt.Errorf("%s %w", k.name, err)
			}
			values = append(values, v)
		}
		return o.Name, values, words[1+n:], nil
	}
	if k.name == "fq" && words[0] == "bands" && len(words) > 1 && words[1] == "3" { // all that the kernel takes
		if len(words) > 2 {
			return k.take(words[2:])
		}
	}
	return "", nil, nil, fmt.Errorf("%s has no option %q that snag knows", k.name, words[0])
}

// text writes a qdisc in an order that is always the same.
func (q qdiscText) text() string {
	if q.isDefault {
		return defaultWord + " " + q.name
	}
	words := []string{q.name}
	for i := range q.kind.options {
		o := &q.kind.options[i]
		values, ok := q.values[o.Name]
		if !ok {
			continue
		}
		switch {
		case o.unit == toggle && values[0] == 0:
			words = append(words, o.off)
			continue
		case o.Name == "priomap":
			words = append(words, "bands 3")
		}
		words = append(words, o.Name)
		if o.unit == toggle {
			continue
		}
		for _, v := range values {
			words = append(words, o.word(v))
		}
	}
	return strings.Join(words, " ")
}

// word writes one number as tc takes it.
func (o *qdiscOption) word(v uint64) string {
	switch o.unit {
	case bitRate:
		return strconv.FormatUint(v*8, 10) + "bit"
	case microseconds:
		return strconv.FormatUint(v, 10) + "us"
	case nanoseconds:
		return strconv.FormatUint(v, 10) + "ns"
	}
	return strconv.FormatUint(v, 10)
}

// suffixes are the units that a number may have, with what they are in the option's
// own; the bare number is the first.
var suffixes = map[qdiscUnit]map[string]float64{
	plainNumber:  {"": 1},
	wholeSeconds: {"": 1},
	packetCount:  {"": 1, "p": 1},
	byteCount:    {"": 1, "b": 1, "k": 1024, "kb": 1024, "m": 1 << 20, "mb": 1 << 20, "g": 1 << 30, "gb": 1 << 30},
	bitRate:      {"": 1. / 8, "bit": 1. / 8, "kbit": 1e3 / 8, "mbit": 1e6 / 8, "gbit": 1e9 / 8, "bps": 1, "kbps": 1e3, "mbps": 1e6},
	microseconds: {"": 1, "us": 1, "µs": 1, "ms": 1e3, "s": 1e6},
	nanoseconds:  {"": 1e3, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9},
	toggle:       {"": 1},
}

// parse reads one number, and reports whether the kernel would take it.
func (o *qdiscOption) parse(word string) (uint64, error) {
	switch {
	case o.unit == toggle && word == "on":
		word = "1"
	case o.unit == toggle && word == "off":
		word = "0"
	}
	digits := strings.TrimRight(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyzµ")
	factor, ok := suffixes[o.unit][strings.ToLower(word)[len(digits):]]
	n, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || strings.ContainsAny(digits, "+-xXeE_") || n*factor != math.Trunc(n*factor) {
		return 0, fmt.Errorf("%s is a number (%s), not %q", o.Name, o.Unit, word)
	}
	v := n * factor
	if v < float64(o.least) || v > float64(o.most) {
		return 0, fmt.Errorf("%s is %s, not %q", o.Name, o.Range, word)
	}
	if o.log2 && uint64(v)&(uint64(v)-1) != 0 {
		return 0, fmt.Errorf("%s is a power of two, not %q", o.Name, word)
	}
	return uint64(v), nil
}

// near reports whether two numbers are one, as the kernel rounds.
func (o *qdiscOption) near(a, b uint64) bool {
	slack := o.slack
	if o.unit == byteCount && slack > 0 { // tbf's burst, which the kernel keeps as time
		slack = max(slack, a/1000)
	}
	return max(a, b)-min(a, b) <= slack
}

// sameQdisc reports whether two texts are one qdisc: options that both name are equal.
// An interface that is down has the default of one that is down, noop.
func sameQdisc(a, b string) bool {
	x, err1 := parseQdisc(a)
	y, err2 := parseQdisc(b)
	if err1 != nil || err2 != nil || x.isDefault != y.isDefault {
		return false
	}
	if x.isDefault {
		return x.name == y.name || x.name == "noop" || y.name == "noop"
	}
	if x.name != y.name {
		return false
	}
	for name, values := range x.values {
		others, ok := y.values[name]
		if !ok {
			continue
		}
		o, _ := x.kind.option(name)
		for i := range values {
			if !o.near(values[i], others[i]) {
				return false
			}
		}
	}
	return true
}
