// Package recorder keeps what the probes see of a host, all the time: a ring of short recordings,
// the pieces. What is old becomes thinner, and then goes. Who asks what happened at a time that has
// passed gets a recording of that time (Ring.Read), as if a find had run then.
//
// A ring is a folder. Each piece is a packed recording, a file named by its time; the one that is
// being written is a folder. All are of the recording's format.
package recorder
