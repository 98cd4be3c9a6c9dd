package procroot

import (
	"testing"
)

func TestNSPid(t *testing.T) {
	for status, want := range map[string]int{
		"Name:\tjava\nNSpid:\t4711\t12\t1\nx": 1, "Name:\tjava\nNSpid:\t4711\nx": 4711, "Name:\tjava\n": 0, "\nNSpid:": 0, "\nNSpid:\tx\n": 0,
	} {
		if got := nsPID(status); got != want {
			t.Errorf("%q: %d, want %d", status, got, want)
		}
	}
}
