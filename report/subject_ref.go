package report

import (
	"snag/recording"
	"snag/verdict"
)

// SubjectRef is a subject in fields, with the container, the pod and the unit that it is in, each as --container, --pod
// and --unit take it.
type SubjectRef struct {
	recording.Subject
	Container string `json:"container,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Unit      string `json:"unit,omitempty"`
}

func subjectRef(v *verdict.Verdict, sub recording.Subject) SubjectRef {
	w := v.Whereabouts(sub)
	return SubjectRef{sub, w.Container, w.Pod, w.Unit}
}
