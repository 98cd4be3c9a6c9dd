// Package reader is what every reader of a file that others wrote is given: the
// file, unpacked and read once from its beginning, in pieces that end at line
// ends, with bounded memory whatever the file holds.
package reader
