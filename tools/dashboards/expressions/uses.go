package expressions

import (
	"fmt"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// Use is a metric that an expression names, with the labels that it selects, groups or joins it by.
type Use struct {
	Name   string
	Labels []string
}

// Uses parses an expression.
func Uses(text string) (out []Use, err error) {
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	parser.Inspect(expr, func(n parser.Node, above []parser.Node) error {
		v, is := n.(*parser.VectorSelector)
		if !is {
			return nil
		}
		u := Use{Name: v.Name}
		for _, m := range v.LabelMatchers {
			if m.Name != model.MetricNameLabel {
				u.Labels = append(u.Labels, m.Name)
			}
		}
		for _, a := range above {
			u.Labels = append(u.Labels, grouping(a)...)
		}
		slices.Sort(u.Labels)
		u.Labels = slices.Compact(u.Labels)
		out = append(out, u)
		return nil
	})
	return out, nil
}

// grouping are the labels that a node keeps or joins by.
func grouping(n parser.Node) []string {
	switch n := n.(type) {
	case *parser.AggregateExpr:
		return n.Grouping
	case *parser.BinaryExpr:
		if n.VectorMatching != nil {
			return slices.Concat(n.VectorMatching.MatchingLabels, n.VectorMatching.Include)
		}
	}
	return nil
}
