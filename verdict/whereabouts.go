package verdict

import (
	"snag/recording"
	"snag/scene"
)

// Whereabouts are the container, the pod and the unit that a subject is in, on its own host where the recording is of
// several.
func (v *Verdict) Whereabouts(sub recording.Subject) scene.Whereabouts {
	for _, h := range v.parts {
		if h.r.Manifest.Host == sub.Host {
			if w := h.s.WhereaboutsOf(sub); w != (scene.Whereabouts{}) {
				return w
			}
		}
	}
	if len(v.parts) > 0 || v.Scene == nil {
		return scene.Whereabouts{}
	}
	return v.Scene.WhereaboutsOf(sub)
}
