// Package logs reads the logs of services. How their lines say when, is told by their
// content; what the lines of a few servers tell (requests and how long they took,
// connections, streams, errors) is known here, and of others a map of named patterns
// tells it. Nothing of a line is kept but its time and what is named in it.
package logs
