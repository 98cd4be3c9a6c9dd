// Package runtime holds the causes inside of languages' runtimes and programs' builds: pauses,
// heaps, libraries.
package runtime

import "snag/suspects/suspect"

// All are the suspects of this kind, in the order in which they are printed. A new one is a
// file and a line here.
var All = []*suspect.Suspect{
	heapFull,
	runtimePause,
	wrongLibrary,
}
