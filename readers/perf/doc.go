// Package perf reads profiles that others took: the text of perf script, folded
// stacks, perf.data itself, and what pprof and speedscope write. All end in the
// tables that snag's own sampling fills.
package perf
