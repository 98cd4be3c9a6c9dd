package offcpu

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"snag/recording"
)

// slowBackend answers each byte after a while, one after the other.
func slowBackend(t *testing.T, after time.Duration) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				var b [1]byte
				for {
					if _, err := c.Read(b[:]); err != nil {
						return
					}
					time.Sleep(after)
					if _, err := c.Write(b[:]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// javaProgram compiles testdata/Convoy.java.
func javaProgram(t *testing.T) (dir string) {
	t.Helper()
	if _, err := exec.LookPath("javac"); err != nil {
		t.Fatal("there is no javac: make setup")
	}
	dir = t.TempDir()
	if out, err := exec.Command("javac", "-d", dir, "testdata/Convoy.java").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// TestJavaLocks: each waiter parks on a word of its own. Who wakes them tells that it is
// one lock, and what those who have it sit in.
func TestJavaLocks(t *testing.T) {
	dir, port := javaProgram(t), slowBackend(t, 10*time.Millisecond)
	t.Run("methods", func(t *testing.T) { javaMethodsWithAMap(t, dir, port) })
	for _, c := range []struct {
		mode, flag string
		convoy     bool
	}{
		{"monitor", "-XX:-PreserveFramePointer", true},
		{"lock", "-XX:+PreserveFramePointer", true},
		{"pool", "-XX:+PreserveFramePointer", false},
	} {
		t.Run(c.mode+c.flag, func(t *testing.T) {
			t.Parallel()
			p := runCommand(t, exec.Command("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", c.flag, "-Xmx64m", "-cp", dir, "Convoy", c.mode, fmt.Sprint(port), "8"))
			rec := look(t, func() { time.Sleep(2600 * time.Millisecond) }, p.pid)
			seen, owned := 0, 0
			for _, r := range rec.LockWaits {
				if r.Kind != kindMutex || r.Address != 0 {
					continue
				}
				seen++
				t.Logf("%d waiters, %d waits, %.3f s, the longest %.3f; owner %d %s in %s: %s", r.Waiters, r.N, r.Sum, r.Max, r.Owner, r.OwnerComm, r.OwnerCall, functions(rec, r.OwnerStack))
				if r.Waiters >= 7 && r.Sum > 4 && strings.HasPrefix(r.OwnerComm, "worker-") && (r.OwnerCall == "read" || r.OwnerCall == "recvfrom") && r.OwnerFD != nil {
					owned++
				}
			}
			if c.convoy && owned == 0 || !c.convoy && seen > 0 {
				t.Errorf("%d rows of a lock, %d with its holder", seen, owned)
			}
			events := 0
			for _, e := range rec.Events {
				if e.Kind == recording.EventLockWait && e.Attrs["owner"] != "" {
					events++
				}
			}
			if c.convoy != (events > 5) {
				t.Errorf("%d waits of 100 ms and more are reported", events)
			}
		})
	}
}

// javaMethodsWithAMap: where the JVM keeps frame pointers and has written the names of
// its methods, a stack of the holder has the method that holds the lock.
func javaMethodsWithAMap(t *testing.T, dir string, port int) {
	t.Parallel()
	p := runCommand(t, exec.Command("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:Tier3InvocationThreshold=10", "-XX:Tier3MinInvocationThreshold=5",
		"-XX:Tier3CompileThreshold=10", "-XX:Tier0InvokeNotifyFreqLog=0", "-XX:+PreserveFramePointer", "-Xmx64m", "-cp", dir, "Convoy", "monitor", fmt.Sprint(port), "8"))
	time.Sleep(time.Second) // its methods are compiled
	if out, err := exec.Command("jcmd", fmt.Sprint(p.pid), "Compiler.perfmap").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() { os.Remove(fmt.Sprintf("/tmp/perf-%d.map", p.pid)) })
	rec := look(t, func() { time.Sleep(2600 * time.Millisecond) }, p.pid)
	for _, r := range rec.LockWaits {
		if r.Kind == kindMutex && r.Address == 0 {
			t.Log(functions(rec, r.OwnerStack))
			if strings.Contains(functions(rec, r.OwnerStack), "Convoy.underMonitor") {
				return
			}
		}
	}
	t.Error("no stack of a holder has the method that holds the lock")
}
