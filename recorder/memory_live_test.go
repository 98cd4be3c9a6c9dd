package recorder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/churntest"
)

const (
	churnWarm = 25 * time.Second // caches fill
	churnFor  = 40 * time.Second
	// mostGrowth, bytes, of memory in use in churnFor: the noise is about half a megabyte. In that time some
	// 5,000 processes, connections, namespaces and control groups came: 300 bytes of each are noticed.
	mostGrowth = 3 << 19
)

// On a host where everything comes and goes, the recorder's memory in use does not grow. make soak looks at
// resident memory, for an hour.
func TestMemoryOnABusyHost(t *testing.T) {
	t.Parallel()
	asRoot(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=churned", dirEnv+"="+t.TempDir())
	cmd.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGTERM}
	ctx, cancel := context.WithCancel(t.Context())
	var churn sync.WaitGroup
	churn.Go(func() {
		if err := churntest.Run(ctx, t.TempDir(), churntest.Busy); err != nil {
			t.Logf("there was less to do than there should be: %v", err)
		}
	})
	out, err := cmd.CombinedOutput()
	cancel()
	churn.Wait()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// onABusyHost records, and compares its memory in use at the end with that after a while.
func onABusyHost(dir string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Plan{Dir: dir, Limits: Limits{Keep: time.Hour, Size: 1 << 30}, Note: func(string) {}, piece: 2 * time.Second, again: time.Second})
	}()
	time.Sleep(churnWarm)
	before := leastInUse(10)
	time.Sleep(churnFor - 20*time.Second)
	after := leastInUse(10)
	fmt.Printf("%.2f MB were in use, and %.2f MB later\n", float64(before)/1e6, float64(after)/1e6)
	select {
	case err := <-done:
		return errors.Join(errors.New("the recorder ended"), err)
	default:
	}
	cancel()
	if grew := after - before; grew > mostGrowth {
		return errors.Join(fmt.Errorf("memory in use grew by %.2f MB in %s", float64(grew)/1e6, churnFor), <-done)
	}
	return <-done
}

// leastInUse is the least memory in use in some seconds: what is in use for a moment, as to pack a piece,
// is no growth.
func leastInUse(seconds int) int64 {
	var all []int64
	for range seconds {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		all = append(all, int64(m.HeapAlloc))
		time.Sleep(time.Second)
	}
	return slices.Min(all)
}
