package main

import (
	"strings"
	"testing"
)

func TestWideComments(t *testing.T) {
	wide := strings.Repeat("word ", 30)
	for line, want := range map[string]bool{
		"// " + wide: true, "\t// " + wide: true, "\tx := 1 // " + wide: false,
		"// https://" + strings.Repeat("a", 200): false, "//go:build " + wide: false,
		"// " + strings.Repeat("ä ", 58): false, "\t\t// " + strings.Repeat("ä ", 58): true,
	} {
		if got := columns(line) > mostColumns && isComment(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}
