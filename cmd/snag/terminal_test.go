package main

import "testing"

// A verdict keeps to the terminal's lines without that of the prompt, and to those of the lowest terminal at least.
func TestRowsOfATerminal(t *testing.T) {
	for terminal, want := range map[int]int{1: 23, 24: 23, 25: 24, 40: 39, 61: 60, 200: 60} {
		if got := rowsFor(terminal); got != want {
			t.Errorf("of %d lines: %d, want %d", terminal, got, want)
		}
	}
}
