package kernel

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// SignalName is a signal's name as kill(1) has it, "SIGKILL"; of one without a name (those
// of real time) its number.
func SignalName(n int) string {
	if s := unix.SignalName(unix.Signal(n)); s != "" {
		return s
	}
	return fmt.Sprint("signal ", n)
}
