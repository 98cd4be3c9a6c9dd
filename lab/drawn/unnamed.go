package drawn

// Unnamed are causes that drawn incidents have and that the catalogue of suspects has not:
// snag can't name them. They count as incidents like all others.
var Unnamed = map[string]string{
	"service-killed":       "a service crashes, is killed or ends, again and again",
	"syscall-failing":      "system calls fail for a full disk, permissions or limits",
	"pool-exhausted":       "a connection pool or a proxy's queue is too small",
	"session-lock":         "a session holds a lock that others wait for",
	"tls-handshake-failed": "TLS handshakes fail",
	"memory-limit":         "a control group's memory limit makes it thrash",
	"heap-full":            "a runtime collects nearly all the time",
	"receiver-too-slow":    "a receiver is always slower than its sender",
}
