package rule

import (
	"math"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"snag/recording"
)

type sample struct {
	labels labels.Labels
	v      float64
}

// value is a number or a vector.
type value struct {
	scalar bool
	number float64
	vector []sample
}

func (r *Rule) eval(e parser.Expr, now recording.Time) value {
	switch e := e.(type) {
	case *parser.NumberLiteral:
		return value{scalar: true, number: e.Val}
	case *parser.ParenExpr:
		return r.eval(e.Expr, now)
	case *parser.StepInvariantExpr:
		return r.eval(e.Expr, now)
	case *parser.UnaryExpr:
		v := r.eval(e.Expr, now)
		if e.Op == parser.SUB {
			v.number = -v.number
			for i := range v.vector {
				v.vector[i].v *= -1
			}
		}
		return v
	case *parser.VectorSelector:
		return value{vector: r.newest(e, now)}
	case *parser.Call:
		return r.call(e, now)
	case *parser.AggregateExpr:
		return value{vector: aggregate(e, r.eval(e.Expr, now).vector)}
	case *parser.BinaryExpr:
		return binary(e, r.eval(e.LHS, now), r.eval(e.RHS, now))
	}
	return value{} // Parse lets nothing else through
}

// chosen are the series of a selector.
func (r *Rule) chosen(e *parser.VectorSelector) (out []*kept) {
	for _, s := range r.series[e.Name] {
		if !slices.ContainsFunc(e.LabelMatchers, func(m *labels.Matcher) bool {
			return m.Name != model.MetricNameLabel && !m.Matches(s.labels.Get(m.Name))
		}) {
			out = append(out, s)
		}
	}
	return out
}

func (r *Rule) newest(e *parser.VectorSelector, now recording.Time) (out []sample) {
	for _, s := range r.chosen(e) {
		if n := s.before(now); n > 0 && s.points[n-1].T > now.Add(-lookback) {
			out = append(out, sample{s.labels, s.points[n-1].V})
		}
	}
	return out
}

// overTime are functions of the samples of a range; false: too few.
type overTime func(points []recording.Point, from, to recording.Time) (float64, bool)

// functions are the supported ones. abs has no range.
var functions = map[string]overTime{
	"rate": func(p []recording.Point, from, to recording.Time) (float64, bool) { return increase(p, from, to, true) },
	"increase": func(p []recording.Point, from, to recording.Time) (float64, bool) {
		return increase(p, from, to, false)
	},
	"delta":           delta,
	"avg_over_time":   fold(func(sum, v float64) float64 { return sum + v }, true),
	"sum_over_time":   fold(func(sum, v float64) float64 { return sum + v }, false),
	"min_over_time":   fold(math.Min, false),
	"max_over_time":   fold(math.Max, false),
	"count_over_time": func(p []recording.Point, _, _ recording.Time) (float64, bool) { return float64(len(p)), len(p) > 0 },
	"abs":             func([]recording.Point, recording.Time, recording.Time) (float64, bool) { return 0, false },
}

func names() (out []string) {
	for name := range functions {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func fold(with func(a, b float64) float64, mean bool) overTime {
	return func(p []recording.Point, _, _ recording.Time) (float64, bool) {
		if len(p) == 0 {
			return 0, false
		}
		v := p[0].V
		for _, one := range p[1:] {
			v = with(v, one.V)
		}
		if mean {
			v /= float64(len(p))
		}
		return v, true
	}
}

// increase is by how much a counter grew, extrapolated to the whole range as Prometheus does
// (promql/functions.go, extrapolatedRate); with perSecond divided by its length.
func increase(p []recording.Point, from, to recording.Time, perSecond bool) (float64, bool) {
	if len(p) < 2 {
		return 0, false
	}
	grown := p[len(p)-1].V - p[0].V
	for i := 1; i < len(p); i++ {
		if p[i].V < p[i-1].V { // it began again
			grown += p[i-1].V
		}
	}
	toZero := math.Inf(1)
	if grown > 0 && p[0].V >= 0 {
		toZero = p[len(p)-1].T.Sub(p[0].T).Seconds() * p[0].V / grown
	}
	v := grown * extrapolated(p, from, to, toZero)
	if perSecond {
		v /= to.Sub(from).Seconds()
	}
	return v, true
}

func delta(p []recording.Point, from, to recording.Time) (float64, bool) {
	if len(p) < 2 {
		return 0, false
	}
	return (p[len(p)-1].V - p[0].V) * extrapolated(p, from, to, math.Inf(1)), true
}

// extrapolated is the length that samples stand for, in lengths between the first and the last of them.
func extrapolated(p []recording.Point, from, to recording.Time, toZero float64) float64 {
	between := p[len(p)-1].T.Sub(p[0].T).Seconds()
	each := between / float64(len(p)-1)
	edge := func(d time.Duration) float64 {
		if s := d.Seconds(); s < 1.1*each {
			return s
		}
		return each / 2
	}
	return (between + min(edge(p[0].T.Sub(from)), toZero) + edge(to.Sub(p[len(p)-1].T))) / between
}

func (r *Rule) call(e *parser.Call, now recording.Time) (out value) {
	if e.Func.Name == "abs" {
		out = r.eval(e.Args[0], now)
		for i := range out.vector {
			out.vector[i].v = math.Abs(out.vector[i].v)
		}
		return out
	}
	m, ok := e.Args[0].(*parser.MatrixSelector)
	if !ok {
		return out
	}
	selector, ok := m.VectorSelector.(*parser.VectorSelector)
	if !ok {
		return out
	}
	from := now.Add(-m.Range)
	for _, s := range r.chosen(selector) {
		if v, ok := functions[e.Func.Name](s.points[s.before(from):s.before(now)], from, now); ok {
			out.vector = append(out.vector, sample{s.labels, v})
		}
	}
	return out
}

func aggregate(e *parser.AggregateExpr, in []sample) (out []sample) {
	at := map[string]int{}
	var n []float64
	for _, s := range in {
		b := labels.NewBuilder(s.labels)
		if e.Without {
			b.Del(e.Grouping...)
		} else {
			b.Keep(e.Grouping...)
		}
		group := b.Labels()
		i, ok := at[group.String()]
		if !ok {
			i = len(out)
			at[group.String()] = i
			out, n = append(out, sample{group, s.v}), append(n, 1)
			continue
		}
		n[i]++
		switch e.Op {
		case parser.MIN:
			out[i].v = min(out[i].v, s.v)
		case parser.MAX:
			out[i].v = max(out[i].v, s.v)
		default:
			out[i].v += s.v
		}
	}
	for i := range out {
		switch e.Op {
		case parser.AVG:
			out[i].v /= n[i]
		case parser.COUNT:
			out[i].v = n[i]
		}
	}
	return out
}

func binary(e *parser.BinaryExpr, a, b value) (out value) {
	if a.scalar && b.scalar {
		v, keep := apply(e.Op, a.number, b.number)
		if e.Op.IsComparisonOperator() {
			v = truth(keep)
		}
		return value{scalar: true, number: v}
	}
	if e.Op.IsSetOperator() {
		return value{vector: combine(e.Op, a.vector, b.vector)}
	}
	pair := func(l labels.Labels, x, y, kept float64) {
		v, keep := apply(e.Op, x, y)
		if e.Op.IsComparisonOperator() {
			v = kept
			if e.ReturnBool {
				v, keep = truth(keep), true
			}
		}
		if keep {
			out.vector = append(out.vector, sample{l, v})
		}
	}
	switch {
	case b.scalar:
		for _, s := range a.vector {
			pair(s.labels, s.v, b.number, s.v)
		}
	case a.scalar:
		for _, s := range b.vector {
			pair(s.labels, a.number, s.v, s.v)
		}
	default:
		for _, s := range a.vector {
			if i := slices.IndexFunc(b.vector, func(o sample) bool { return labels.Equal(o.labels, s.labels) }); i >= 0 {
				pair(s.labels, s.v, b.vector[i].v, s.v)
			}
		}
	}
	return out
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func combine(op parser.ItemType, a, b []sample) (out []sample) {
	in := func(s sample, all []sample) bool {
		return slices.ContainsFunc(all, func(o sample) bool { return labels.Equal(o.labels, s.labels) })
	}
	for _, s := range a {
		if op == parser.LOR || in(s, b) == (op == parser.LAND) {
			out = append(out, s)
		}
	}
	for _, s := range b {
		if op == parser.LOR && !in(s, a) {
			out = append(out, s)
		}
	}
	return out
}

// apply is an operator's value, and whether its comparison holds.
func apply(op parser.ItemType, a, b float64) (v float64, holds bool) {
	switch op {
	case parser.ADD:
		return a + b, true
	case parser.SUB:
		return a - b, true
	case parser.MUL:
		return a * b, true
	case parser.DIV:
		return a / b, true
	case parser.MOD:
		return math.Mod(a, b), true
	case parser.POW:
		return math.Pow(a, b), true
	case parser.GTR:
		return a, a > b
	case parser.LSS:
		return a, a < b
	case parser.GTE:
		return a, a >= b
	case parser.LTE:
		return a, a <= b
	case parser.EQLC:
		return a, a == b
	case parser.NEQ:
		return a, a != b
	}
	return 0, false
}
