// Package sides reads two captures of the same connections, one from each end, and
// splits every request into the way out, the server and the way back.
//
// It reads the files twice. First each alone: which connections it has (index.go).
// Connections that are on both are found by their addresses, or by what a NAT and a
// firewall leave as it is (match.go). Then both in step: each capture's view of a
// connection is cut into turns, a request and its answer each, by byte ranges and
// never by segments, which offloads cut differently at both ends (view.go). Turns
// that both views have are joined (join.go). The time at the server and the time on
// the network need no common clock. How the network's part falls to the ways out and
// back does: the clocks are compared by what no packet can do, arrive before it was
// sent (clock.go).
package sides
