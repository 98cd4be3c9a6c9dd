package suspect

// Remedy is what helps, in three parts. Each may be empty.
type Remedy struct {
	// Now is one command line for a shell that takes the harm away as soon as it has run,
	// with this recording's values and in the right namespace. Empty where none surely
	// does. In the catalogue it is the command's general form (PID, DEVICE).
	Now string
	// Permanently is where the setting is kept, and what else is done outside of the program.
	Permanently string
	// Program is what a developer changes.
	Program string
}

// Given reports whether any part is there.
func (r Remedy) Given() bool { return r != Remedy{} }

// Usual is the catalogue's remedy for a finding that has none of its own: without the
// command, which has no values.
func (s *Suspect) Usual() Remedy {
	return Remedy{Permanently: s.Remedy.Permanently, Program: s.Remedy.Program}
}
