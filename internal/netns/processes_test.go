package netns

import (
	"os"
	"slices"
	"testing"
)

func TestProcessesOfANamespace(t *testing.T) {
	own, err := IDOf("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	if all := Processes("/proc", own); !slices.Contains(all, os.Getpid()) || !slices.IsSorted(all) {
		t.Errorf("the own namespace has %v", all)
	}
	if all := Processes("/proc", own+1<<40); len(all) != 0 {
		t.Errorf("a namespace that there is not has %v", all)
	}
	if all := Processes(t.TempDir(), own); len(all) != 0 {
		t.Errorf("an empty /proc has %v", all)
	}
}
