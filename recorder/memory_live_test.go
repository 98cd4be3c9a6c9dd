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
	churnWarm = 20 * time.Second
	churnFor  = 20 * time.Second // between the two looks
	lookFor   = 5                // s: the least in use in these
	// mostGrown, bytes: on a busy machine caches fill for a minute, by 3 MB at most. So only a coarse leak is
	// noticed: scans see some 50 of the processes that come and go meanwhile, so that 32 kB kept of each are not
	// noticed, and 256 kB are. What is less, make soak finds, in an hour.
	mostGrown = 4 << 20
)

// On a host where everything comes and goes, the recorder's memory does not grow coarsely. make soak looks at
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

// onABusyHost records, and looks at its memory in use twice.
func onABusyHost(dir string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Plan{Dir: dir, Limits: Limits{Keep: time.Hour, Size: 1 << 30}, Note: func(string) {}, piece: 2 * time.Second, again: time.Second})
	}()
	time.Sleep(churnWarm)
	before := leastInUse(lookFor)
	time.Sleep(churnFor - lookFor*time.Second)
	after := leastInUse(lookFor)
	fmt.Printf("%.2f MB in use, then %.2f MB\n", float64(before)/1e6, float64(after)/1e6)
	select {
	case err := <-done:
		return errors.Join(errors.New("the recorder ended"), err)
	default:
	}
	cancel()
	err := <-done
	if after-before > mostGrown {
		err = errors.Join(errors.New("memory in use grows"), err)
	}
	return err
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
