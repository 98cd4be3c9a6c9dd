package host

import (
	"os"
	"testing"

	"snag/internal/kernel"
)

// A process that has ended between two reads holds no socket, and hides nothing: a find as
// root said "not enough seen" for it. One of others is hidden from who has no privileges.
func TestEndedProcessesHideNothing(t *testing.T) {
	r := newProcReader(t.TempDir(), 0)
	if has, known := r.hasSocket(1); has || !known {
		t.Errorf("of a process that is gone: has %v, known %v", has, known)
	}
	if os.Geteuid() == 0 || kernel.SeesPIDs("/proc") != nil {
		return
	}
	if has, known := newProcReader("/proc", 0).hasSocket(1); has || known {
		t.Errorf("of init, without privileges: has %v, known %v", has, known)
	}
}
