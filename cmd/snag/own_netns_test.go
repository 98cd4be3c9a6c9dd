package main

import (
	"strings"
	"testing"
)

// What has been recorded is not limited afterwards.
func TestOwnNetnsIsOfThePresent(t *testing.T) {
	cmd := rootCommand()
	cmd.SetArgs([]string{"find", "--last", "1m", "--own-netns"})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), "--own-netns") {
		t.Error(err)
	}
}
