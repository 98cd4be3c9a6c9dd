// Package source says where a piece of evidence was read: in words that a person can follow on
// the live host, and which measures of the recording stand behind it. Texts of sources, the
// series that are drawn beside them, their titles and units follow from here and nowhere else.
package source

import (
	"fmt"
	"strings"

	"snag/recording"
)

// Ref is a measure that evidence is read from.
type Ref struct {
	// Word is what it is called where a person looks: "Recv-Q", "RcvbufErrors".
	Word string
	// Series is the name of its series ("node_softnet_dropped_total") or table.column
	// ("sockets.recv_q", one of Columns); "" where the recording keeps none.
	Series string
	// Labels narrow it down besides what the evidence is about: {"reason": "NO_SOCKET"}.
	Labels recording.Labels
}

// Source is where a piece of evidence was read. The zero Source names nothing.
type Source struct {
	text string
	refs []Ref
	file bool // it names a file that was read, and nothing that a live host could be asked
}

// At is a place to look, a command or a file, and what is read there.
func At(place string, refs ...Ref) Source {
	words := make([]string, 0, len(refs))
	for _, r := range refs {
		if r.Word != "" {
			words = append(words, r.Word)
		}
	}
	return Source{text: strings.TrimSpace(place + " " + strings.Join(words, ", ")), refs: refs}
}

// Of is a place to look in words that name what is read there themselves.
func Of(text string, refs ...Ref) Source { return Source{text: text, refs: refs} }

// File is a file that was read: a capture, a trace, a log.
func File(text string, refs ...Ref) Source { return Source{text: text, refs: refs, file: true} }

// Ofs is Of with a text that is made by fmt.Sprintf.
func Ofs(format string, args ...any) Source { return Source{text: fmt.Sprintf(format, args...)} }

// With names measures behind what the text says already.
func (s Source) With(refs ...Ref) Source {
	s.refs = append(s.refs[:len(s.refs):len(s.refs)], refs...)
	return s
}

// And is both of two places.
func (s Source) And(o Source) Source {
	if s.text == "" {
		return o
	}
	both := s.With(o.refs...)
	both.text += "; " + o.text
	return both
}

// As is the same measures, looked at in another way.
func (s Source) As(text string) Source {
	s.text = text
	return s
}

// String is the text.
func (s Source) String() string { return s.text }

// OfFile reports whether it names a file that was read.
func (s Source) OfFile() bool { return s.file }

// Refs are the measures.
func (s Source) Refs() []Ref { return s.refs }

// Word is something that is read and that the recording keeps no series of.
func Word(word string) Ref { return Ref{Word: word} }
