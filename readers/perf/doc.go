// Package perf reads profiles that perf(1) recorded: the text of perf script, and
// folded stacks.
package perf
