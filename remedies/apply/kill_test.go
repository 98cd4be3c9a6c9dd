package apply

import (
	"os"
	"syscall"
)

// kill ends this process as kill -9 does.
func kill() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}
