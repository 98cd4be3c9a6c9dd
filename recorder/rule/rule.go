// Package rule evaluates one PromQL expression over the newest samples of a recorder.
//
// The parser is Prometheus' own. Its engine brings much of Kubernetes with it, so that the evaluation is
// ours, of the part that alerting rules consist of: Parse rejects the rest by name.
package rule

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"snag/internal/sorting"
	"snag/recording"
)

const (
	// lookback is how old a sample may be that an instant selector takes: slow probes sample every 15 s.
	lookback  = time.Minute
	mostRange = 15 * time.Minute
	// mostPoints of all series together are kept; further ones are dropped, and Lost counts them.
	mostPoints = 200_000
)

// Rule is an expression and the samples that it needs.
type Rule struct {
	Lost uint64 // samples that found no room

	text    string
	expr    parser.Expr
	longest time.Duration // of its ranges
	series  map[string]map[string]*kept
	points  int
}

// kept are the newest samples of one series.
type kept struct {
	labels labels.Labels
	points []recording.Point
}

// Parse reads an expression. An error names what is wrong with it, or what cannot be evaluated here.
func Parse(text string) (*Rule, error) {
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		return nil, fmt.Errorf("no PromQL: %w", err)
	}
	if t := expr.Type(); t != parser.ValueTypeVector && t != parser.ValueTypeScalar {
		return nil, fmt.Errorf("%s is a %s: a rule is a comparison, as rate(node_netstat_TcpExt_ListenOverflows[10s]) > 1", text, parser.DocumentedType(t))
	}
	r := &Rule{text: text, expr: expr, longest: lookback, series: map[string]map[string]*kept{}}
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if err == nil && n != nil {
			err = r.check(n)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(r.series) == 0 {
		return nil, fmt.Errorf("%s names no series", text)
	}
	return r, nil
}

// Reset forgets all samples.
func (r *Rule) Reset() {
	for name := range r.series {
		r.series[name] = map[string]*kept{}
	}
	r.points = 0
}

// check rejects what cannot be evaluated, and notes which series are needed, for how long.
func (r *Rule) check(n parser.Node) error {
	switch e := n.(type) {
	case *parser.VectorSelector:
		if e.OriginalOffset != 0 || e.Timestamp != nil || e.StartOrEnd != 0 {
			return fmt.Errorf("%s: offset and @ are not supported", e)
		}
		if e.Name == "" {
			return fmt.Errorf("%s: name the series", e)
		}
		r.series[e.Name] = map[string]*kept{}
	case *parser.MatrixSelector:
		if e.Range > mostRange {
			return fmt.Errorf("%s: at most %s", e, mostRange)
		}
		r.longest = max(r.longest, e.Range)
	case *parser.Call:
		if functions[e.Func.Name] == nil {
			return fmt.Errorf("%s is not supported; there are %s", e.Func.Name, strings.Join(names(), ", "))
		}
	case *parser.AggregateExpr:
		if !slices.Contains([]parser.ItemType{parser.SUM, parser.MIN, parser.MAX, parser.AVG, parser.COUNT}, e.Op) {
			return fmt.Errorf("%s is not supported; there are sum, min, max, avg, count", e.Op)
		}
	case *parser.BinaryExpr:
		if m := e.VectorMatching; m != nil && (len(m.MatchingLabels) > 0 || m.On || m.Card != parser.CardOneToOne && !e.Op.IsSetOperator()) {
			return fmt.Errorf("%s: on, ignoring and group_left are not supported; use sum by", e)
		}
	case *parser.SubqueryExpr:
		return fmt.Errorf("%s: subqueries are not supported", e)
	}
	return nil
}

// Sample takes a sample, if the rule needs it. Times of one series must not go back.
func (r *Rule) Sample(at recording.Time, name string, l recording.Labels, v float64) {
	of, ok := r.series[name]
	if !ok {
		return
	}
	all := labels.FromMap(l)
	key := all.String()
	s := of[key]
	if s == nil {
		s = &kept{labels: all}
		of[key] = s
	}
	if r.points >= mostPoints {
		r.Lost++
		return
	}
	s.points = append(s.points, recording.Point{T: at, V: v})
	r.points++
	if old := s.before(at.Add(-r.longest - time.Minute)); old > len(s.points)/2 { // not at every sample
		r.drop(s, old)
	}
}

// before is the number of samples up to a time.
func (s *kept) before(t recording.Time) int {
	n, _ := slices.BinarySearchFunc(s.points, t, func(p recording.Point, t recording.Time) int {
		if p.T <= t {
			return -1
		}
		return 1
	})
	return n
}

func (r *Rule) drop(s *kept, n int) {
	s.points = append(s.points[:0], s.points[n:]...)
	r.points -= n
}

// Holds evaluates the rule. It holds where its value is not empty, or, of a number, not 0. The text names
// the first series and its value.
func (r *Rule) Holds(now recording.Time) (text string, ok bool) {
	r.forget(now)
	v := r.eval(r.expr, now)
	if v.scalar {
		return fmt.Sprintf("%s is %.4g", r.text, v.number), v.number != 0 && !math.IsNaN(v.number)
	}
	if len(v.vector) == 0 {
		return "", false
	}
	sorting.By(v.vector, func(a, b sample) int { return labels.Compare(a.labels, b.labels) })
	text = fmt.Sprintf("%s: %.4g", r.text, v.vector[0].v)
	if l := v.vector[0].labels; l.Len() > 0 {
		text += " for " + l.String()
	}
	if n := len(v.vector) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text, true
}

// forget drops series that are gone.
func (r *Rule) forget(now recording.Time) {
	for _, of := range r.series {
		for key, s := range of {
			if n := len(s.points); n == 0 || s.points[n-1].T < now.Add(-r.longest-time.Minute) {
				r.drop(s, n)
				delete(of, key)
			}
		}
	}
}
