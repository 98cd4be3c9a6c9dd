package nics

import (
	"path/filepath"
	"testing"

	"snag/internal/netns"
)

// Namespaces come and go while they are listed: one that has ended is no view that was cut.
func TestANamespaceThatHasEnded(t *testing.T) {
	sp := &space{Namespace: netns.Namespace{ID: 7, Name: "ended", Path: filepath.Join(t.TempDir(), "ended")}}
	err := sp.within(nil, func() error { t.Error("it was entered"); return nil })
	if err != nil {
		t.Error(err)
	}
}
