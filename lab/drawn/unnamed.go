package drawn

// Unnamed are causes that drawn incidents have and that the catalogue of suspects has not:
// snag can't name them. They count as incidents like all others.
var Unnamed = map[string]string{
	"syscall-failing":      "system calls fail for a full disk, permissions or limits",
	"tls-handshake-failed": "TLS handshakes fail",
}
