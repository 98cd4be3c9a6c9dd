package main

import (
	"strings"
	"testing"

	"snag/remedies/apply"
)

func TestUndoneSettingsAreCounted(t *testing.T) {
	for n, want := range map[int]string{1: "is undone: 1 setting is as before\n", 3: "is undone: 3 settings are as before\n"} {
		var e apply.Entry
		e.State.Changes = append(e.State.Changes, make([]apply.Made, n)...)
		var out strings.Builder
		writeUndone(&out, e)
		if !strings.HasSuffix(out.String(), want) {
			t.Errorf("%d: %q, want %q", n, out.String(), want)
		}
	}
}
