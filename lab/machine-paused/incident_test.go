package machinepaused

import (
	"os"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// The clock jumps over the pause that is asked for here, and nothing else does.
func TestTruth(t *testing.T) {
	pauser := os.Getenv(lab.PauserVariable)
	if pauser == "" {
		t.Skip("nobody outside this machine can stop it for a while: run make lab-vm")
	}
	labtest.Each(t, Incident, func(t *testing.T, _ *lab.Stage, v lab.Variant) {
		if v != lab.Sick {
			return
		}
		// Beside the sleeps: to close a serial port takes until it is over.
		asked := make(chan error, 1)
		go func() { asked <- os.WriteFile(pauser, []byte("pause\n"), 0) }()
		longest := time.Duration(0)
		for end := time.Now().Add(8 * time.Second); time.Now().Before(end); {
			before := time.Now()
			time.Sleep(50 * time.Millisecond)
			longest = max(longest, time.Since(before))
		}
		if err := <-asked; err != nil {
			t.Fatal(err)
		}
		if longest < 3*time.Second {
			t.Errorf("the longest of many sleeps of 50 ms took %v: the machine was not stopped", longest)
		}
	})
}
