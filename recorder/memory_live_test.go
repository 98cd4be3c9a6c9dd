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
	churnWarm   = 15 * time.Second
	churnWindow = 20 // s; of the least memory in use in its second half
	mostWindows = 6
	// levelAt, bytes: a window that is no more than that above the one before shows that memory has stopped
	// growing. Caches take some windows to fill on a busy machine, a leak never ends. In a window some 1,700
	// processes, connections, namespaces and control groups come: 450 bytes of each are noticed.
	levelAt = 3 << 18
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

// onABusyHost records, and looks until its memory in use stops growing.
func onABusyHost(dir string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Plan{Dir: dir, Limits: Limits{Keep: time.Hour, Size: 1 << 30}, Note: func(string) {}, piece: 2 * time.Second, again: time.Second})
	}()
	time.Sleep(churnWarm)
	var windows []int64
	for len(windows) < mostWindows && !isLevel(windows) {
		time.Sleep(churnWindow / 2 * time.Second)
		windows = append(windows, leastInUse(churnWindow/2))
		fmt.Printf("%.2f MB in use\n", float64(windows[len(windows)-1])/1e6)
	}
	select {
	case err := <-done:
		return errors.Join(errors.New("the recorder ended"), err)
	default:
	}
	cancel()
	err := <-done
	if !isLevel(windows) {
		err = errors.Join(errors.New("memory in use does not stop growing"), err)
	}
	return err
}

func isLevel(windows []int64) bool {
	n := len(windows)
	return n > 2 && windows[n-1]-windows[n-2] <= levelAt && windows[n-2]-windows[n-3] <= levelAt
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
