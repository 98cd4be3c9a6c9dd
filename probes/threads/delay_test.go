package threads

import (
	"strings"
	"testing"
)

func TestParseIODelay(t *testing.T) {
	fields := func(n int, delay string) []byte {
		f := make([]string, n)
		for i := range f {
			f[i] = "0"
		}
		f[0] = "S"
		if n > 39 {
			f[39] = delay
		}
		return []byte("812 (a) (b) " + strings.Join(f, " ") + "\n")
	}
	for _, c := range []struct {
		stat []byte
		want float64
		ok   bool
	}{
		{fields(50, "123"), 1.23, true},
		{fields(50, "0"), 0, true},
		{fields(39, ""), 0, false}, // before 2.6.18
		{fields(50, "x"), 0, false},
		{[]byte("812"), 0, false},
	} {
		if got, ok := parseIODelay(c.stat); got != c.want || ok != c.ok {
			t.Errorf("%q: %g %v, want %g %v", c.stat, got, ok, c.want, c.ok)
		}
	}
}

// Where the kernel does not account delays, 0 is not a measurement.
func TestADelayThatIsNotAccountedIsNotWritten(t *testing.T) {
	r := reader{proc: "/proc"}
	for _, accounted := range []bool{false, true} {
		r.accounted = accounted
		r.next()
		row, ok := r.thread(1, 1)
		if !ok {
			t.Skip("process 1 can't be read here")
		}
		if delayed := row.IODelay != nil && *row.IODelay > 0; !delayed && (row.IODelay != nil) != accounted {
			t.Errorf("accounted %v, delay %v", accounted, row.IODelay)
		}
	}
}
