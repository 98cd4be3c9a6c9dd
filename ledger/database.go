package ledger

import (
	"slices"

	"snag/recording"
)

// Databases have a thread or a process for each connection, and a protocol without long polls:
// whoever asked waits for an answer, and is not in line for a thread of others.
var databases = []string{"mariadbd", "mysqld", "postgres"}

// LikeDatabase reports whether a listener is one by its program or its port: who asks there waits for
// an answer, and not for an event.
func LikeDatabase(sub recording.Subject) bool {
	return slices.Contains(databases, sub.Comm) || slices.Contains([]string{"5432", "3306"}, recording.Port(sub.Local))
}

func (p *Party) isDatabase() bool {
	return p.Role == Serves && slices.Contains(databases, p.Subject.Comm)
}

const (
	// Replicas ask once for all that is to come: fewer may be theirs.
	fewAbandoned = 3
	longUnheard  = 5 // s
)

// Unheard is how many requests of a database are open, where none was answered in the window and
// the oldest is that old; else 0.
func (p *Party) Unheard() uint64 {
	if !p.isDatabase() || p.Answered > 0 || p.waiting < fewAbandoned || p.Oldest < longUnheard {
		return 0
	}
	return p.waiting
}
