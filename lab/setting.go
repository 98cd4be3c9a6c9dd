package lab

import (
	"fmt"
	"os"
	"strings"
)

// Sysctl sets what is one for the whole machine, by its file below /proc/sys or
// /sys, until the stage closes; the janitor puts the old value back even after a
// kill. Only for incidents that have a machine of their own (VM), and for families of
// drawn incidents that run alone: what a namespace has for itself is set by a Command in it.
func (s *Stage) Sysctl(file, value string) {
	if s.Err() != nil {
		return
	}
	old, err := os.ReadFile(file)
	if err != nil {
		s.fail(fmt.Errorf("lab: read the setting %s to put it back: %w", file, err))
		return
	}
	// Told before it is set: a kill in between must not leave it so.
	s.remember(item{Kind: kindSetting, Path: file, Value: chosen(string(old))})
	if s.Err() != nil {
		return
	}
	if err := os.WriteFile(file, []byte(value), 0); err != nil {
		s.fail(fmt.Errorf("lab: set %s to %s: %w", file, value, err))
	}
}

// chosen is the value of a setting: of a list of choices, "always [madvise] never",
// the one in brackets.
func chosen(text string) string {
	if _, rest, ok := strings.Cut(text, "["); ok {
		if one, _, ok := strings.Cut(rest, "]"); ok {
			return one
		}
	}
	return strings.TrimSpace(text)
}
