package scene

import (
	"cmp"
	"strings"

	"snag/recording"
)

// Whereabouts are the container, the pod and the unit of a subject, each as the flags --container, --pod and --unit
// take it; "" of what it is not in, and where that is not known.
type Whereabouts struct{ Container, Pod, Unit string }

// WhereaboutsOf are those of a subject's process, or of the control group that the subject is.
func (s *Scene) WhereaboutsOf(sub recording.Subject) (w Whereabouts) {
	paths, unit := []string{sub.Cgroup}, ""
	if p := s.Process(sub.PID); sub.PID != 0 && p != nil {
		row := p.Last()
		paths, unit = []string{row.GroupOf("unified"), row.Cgroup, row.GroupOf("memory")}, unitStep(row.Unit)
	}
	for _, path := range paths {
		if w = s.groups.whereaboutsOf(path); w != (Whereabouts{}) {
			return w
		}
	}
	return Whereabouts{Unit: unit}
}

func (n groupNames) whereaboutsOf(cgroup string) (w Whereabouts) {
	if uid := recording.PodOf(cgroup); uid != "" {
		w.Pod = cmp.Or(n.pods[uid], uid)
	}
	if id := recording.ContainerOf(cgroup); id != "" {
		w.Container = cmp.Or(n.containers[id], id[:12])
	}
	if w == (Whereabouts{}) {
		w.Unit, _ = strings.CutPrefix(n.placeOf(cgroup), "unit ")
		if name, ok := strings.CutPrefix(w.Unit, "container "); ok { // of LXC
			return Whereabouts{Container: name}
		}
		if strings.HasPrefix(w.Unit, "machine ") {
			return Whereabouts{}
		}
	}
	return w
}
