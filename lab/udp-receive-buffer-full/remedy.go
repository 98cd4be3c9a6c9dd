package udpreceivebufferfull

import (
	"snag/lab"
	"snag/remedies/plan"
)

// rmem_max is what a program may ask for: raised, and the receiver started again to ask
// for as much as the plan advises, its buffer holds a burst. rmem_default is for programs that
// do not ask.
var remedy = &lab.Remedy{
	Start: func(s *lab.Stage) error {
		s.Sysctl("/proc/sys/net/core/rmem_max", "212992") // the kernel's own
		return start(s, lab.Sick)
	},
	Restart: map[string]func([]string) []string{"rtp-sink": lab.With("--rcvbuf", "2097152")},
	Wrong:   []plan.Change{{Target: plan.Target{Kind: "sysctl", Name: "net.core.rmem_default"}, Then: "4194304"}},
}
