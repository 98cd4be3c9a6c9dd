package verdict

import "strings"

// SymptomOf is the symptom, one of those of package scene, that a user's words stand for; false: none of them is
// known.
func SymptomOf(text string) (string, bool) {
	lower := strings.ToLower(text)
	for _, w := range words {
		if strings.Contains(lower, w.word) {
			return w.symptom, true
		}
	}
	return "", false
}

// SymptomWords are words that are understood, one for each symptom that users report.
func SymptomWords() (out []string) {
	seen := map[string]bool{}
	for _, w := range words {
		if !seen[w.symptom] {
			seen[w.symptom] = true
			out = append(out, w.word)
		}
	}
	return out
}
