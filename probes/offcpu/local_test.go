package offcpu

import (
	"slices"
	"testing"
)

func TestParseNSpid(t *testing.T) {
	for text, want := range map[string][]int{
		"Name:\tx\nNSpid:\t812\t7\nNSpgid:\t1\n": {812, 7}, "Name:\tx\nNSpid:\t812\n": {812},
		"Name:\tx\n": nil, "\nNSpid:\tx\n": nil, "\nNSpid:": nil,
	} {
		if got := parseNSpid([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzNSpid(f *testing.F) {
	f.Add([]byte("Name:\tx\nNSpid:\t812\t7\n"))
	f.Fuzz(func(t *testing.T, status []byte) {
		if got := parseNSpid(status); len(got) > len(status) {
			t.Errorf("%d ids out of %d bytes", len(got), len(status))
		}
	})
}
