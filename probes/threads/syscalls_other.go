//go:build !amd64 && !arm64

package threads

// No table of this architecture's system calls: coverage says so.
var syscallNames, compatNames map[int]string
