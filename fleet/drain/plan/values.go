package plan

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Duration is a time with its unit, as 30s or 2m.
type Duration struct {
	D   time.Duration
	Set bool // it is in the file: 0s is another answer than none
}

// Or is the duration, or what holds where the file has none.
func (d Duration) Or(otherwise time.Duration) time.Duration {
	if !d.Set {
		return otherwise
	}
	return d.D
}

// minEvery is how often health is looked at at most.
const minEvery = 100 * time.Millisecond

// longest of any duration of a plan: more is a typing error.
const longest = 24 * time.Hour

// UnmarshalYAML reads it.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil || n.Kind != yaml.ScalarNode || v < 0 || v > longest {
		return fmt.Errorf("line %d: %q is not a time: write 30s or 2m, at most %s", n.Line, n.Value, longest)
	}
	*d = Duration{v, true}
	return nil
}

// Batch is a number of peers, or a share of all.
type Batch struct {
	N       int
	Percent float64 // of all peers; 0: N counts
}

// UnmarshalYAML reads 2 or 25%.
func (b *Batch) UnmarshalYAML(n *yaml.Node) error {
	text, percent := strings.CutSuffix(n.Value, "%")
	if percent {
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err == nil && v > 0 && v <= 100 {
			*b = Batch{Percent: v}
			return nil
		}
	} else if v, err := strconv.Atoi(text); err == nil && v > 0 {
		*b = Batch{N: v}
		return nil
	}
	return fmt.Errorf("line %d: batch %q: write how many peers may be out of service at a time, as 2 or 25%%; at least 1", n.Line, n.Value)
}

// Of is how many of all peers that is: at least one.
func (b Batch) Of(all int) int {
	if b.Percent > 0 {
		return max(1, int(float64(all)*b.Percent/100))
	}
	return max(1, b.N)
}

// Batches are the peers in the plan's order, as they are out of service together.
func (p *Plan) Batches() (out [][]Peer) {
	rest, size := p.Peers, p.Batch.Of(len(p.Peers))
	first := size
	if p.Canary > 0 {
		first = min(p.Canary, size)
	}
	for n := first; len(rest) > 0; n = size {
		n = min(n, len(rest))
		out = append(out, rest[:n:n])
		rest = rest[n:]
	}
	return out
}
