package watch

import "fmt"

// unheard says what of a second entry with another's URL is not done: each URL is read
// once, as the first entry asks. "" where nothing is lost: it asks for no other name, or
// for the one that streams have by themselves, as those of a server's own list.
func unheard(first, second Entry) string {
	named := second.Name != first.Name && second.Name != nameOf(second.URL)
	if !named && (second.Threshold == 0 || second.Threshold == first.Threshold) {
		return ""
	}
	return fmt.Sprintf("%s: %s has the same URL as %s (%s): %s is read once, as %s asks for it; give one of the two another URL, or take it out",
		second.From, second.Name, first.Name, first.From, ShownURL(first.URL), first.Name)
}

// tellTwice reports what is new of it since the last time.
func (w *Watcher) tellTwice(texts []string) {
	now := make(map[string]bool, len(texts))
	fresh := 0
	for _, text := range texts {
		if !w.twice[text] && !now[text] {
			if fresh++; fresh <= maxProblems {
				w.o.Note(text)
			}
		}
		now[text] = true
	}
	if fresh > maxProblems {
		w.o.Note(fmt.Sprintf("%d more have the URL of another stream, and are not read a second time", fresh-maxProblems))
	}
	w.twice = now
}
