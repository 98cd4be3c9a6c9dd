package measure

import "testing"

func TestFunctionsAreNamedWithTheirCallers(t *testing.T) {
	for _, c := range []struct {
		functions []string
		want      string
	}{
		{nil, ""},
		{[]string{"whole"}, "whole()"},
		{[]string{"whole", "ask", "worker"}, "whole(), called by ask(), called by worker()"},
		{[]string{"pool::take(int)", "main.main"}, "pool::take(int), called by main.main()"},
	} {
		if got := CalledBy(c.functions); got != c.want {
			t.Errorf("%v: %q, want %q", c.functions, got, c.want)
		}
	}
}
