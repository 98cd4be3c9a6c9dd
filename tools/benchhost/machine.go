package benchhost

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// Machine is what is measured on.
func Machine() string {
	var u syscall.Utsname
	_ = syscall.Uname(&u) // the own kernel answers
	var release []byte
	for _, c := range u.Release {
		if c == 0 {
			break
		}
		release = append(release, byte(c))
	}
	average, _ := os.ReadFile("/proc/loadavg")
	return fmt.Sprintf("%d CPUs, kernel %s, load average at the start %s", runtime.NumCPU(), release, strings.Join(strings.Fields(string(average))[:3], " "))
}
