package expressions

import (
	"fmt"
	"testing"
)

func TestUses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`sum by (a, b) (rate(x{c="1"}[1m])) / on (d) group_left (e) y`: "[{x [a b c d e]} {y [d e]}]",
		`histogram_quantile(0.9, sum by (le) (x_bucket))`:              "[{x_bucket [le]}]",
		labelValues(`label_values(x{a=~"b"}, stream)`):                 "[{x [a stream]}]",
		labelValues(`label_values(x, instance)`):                       "[{x [instance]}]",
	} {
		got, err := Uses(text)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "sum by (", "label_values(x)", "rate(x)"} {
		if got, err := Uses(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
