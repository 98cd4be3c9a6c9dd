package states

import (
	"fmt"
	"testing"
)

// crowd is a program with 300 children that sleep.
const crowd = `
import ctypes, os, time
for _ in range(300):
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(1, 9)  # it ends with its parent
        time.sleep(600)
print(flush=True)
time.sleep(600)
`

// BenchmarkLook is one walk over the tasks of this machine, where the 300 children of one
// process are watched, or nobody is.
func BenchmarkLook(b *testing.B) {
	for _, children := range []bool{false, true} {
		b.Run(fmt.Sprint("children=", children), func(b *testing.B) {
			k, err := load("/proc", "/sys")
			if err != nil {
				b.Skip(err)
			}
			defer k.close()
			pid, _ := begin(b, "python3", "-c", crowd)
			if children {
				if err := k.maps.Maps[kernelMapWatched].Put(uint32(pid), withChildren); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if err := k.look(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
