// Package watch keeps live streams under watch, hundreds from one process: which
// streams (the command line, a list that is reloaded, what servers say that they
// carry), a reader for each that comes back after it was cut off, what each one's
// figures say now, and what is done about a freeze. It reads streams through
// stream.Open and prints nothing.
package watch
