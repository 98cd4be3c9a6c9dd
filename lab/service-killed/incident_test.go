package servicekilled

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"snag/internal/netns"
	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// What clients of the test's own are answered: only where workers are killed do some get
// nothing.
func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		var failed, asked atomic.Int64
		var all sync.WaitGroup
		until := time.Now().Add(2500 * time.Millisecond) // a worker is killed every 0.7 s
		for range 4 {
			all.Go(func() {
				for time.Now().Before(until) {
					asked.Add(1)
					if ask(s.Name("clients")) != nil {
						failed.Add(1)
					}
				}
			})
		}
		all.Wait()
		if (v == lab.Sick) != (failed.Load() > 0) {
			t.Errorf("%s: %d of %d requests failed", v, failed.Load(), asked.Load())
		}
		t.Logf("%s: %d of %d requests failed", v, failed.Load(), asked.Load())
	})
}

func ask(ns string) error {
	var c net.Conn
	if err := netns.DoNamed(ns, func() (err error) {
		c, err = net.DialTimeout("tcp4", "10.89.4.2:8000", 2*time.Second)
		return err
	}); err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	buf := make([]byte, 128)
	if _, err := c.Write(buf); err != nil {
		return err
	}
	_, err := io.ReadFull(c, buf)
	return err
}
