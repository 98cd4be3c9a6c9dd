package scene

import "snag/recording"

// findSymptoms looks for what users feel without suspecting anything: each
// finder reads one kind of harm off the recording. Floors stand beside the
// finder with their reason.
func findSymptoms(s *Scene, r *recording.Recording) []Symptom {
	return nil
}
