package oncpu

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/probes/jvm"
	"snag/recording"
)

const java = `
public class Spin {
  static volatile long sum;
  static long mix(long n) { long s = 0; for (int i = 0; i < 100000; i++) s += i ^ n; return s; }
  static void forward(long n) { sum += mix(n); }
  static void session() { for (long i = 0; ; i++) forward(i); }
  public static void main(String[] a) throws Exception {
    Thread t = new Thread(Spin::session, "relay-worker"); t.start(); System.out.println("ready"); t.join();
  }
}
`

// A JVM of another user: its methods have names once it has written them, and its
// stacks are whole with frame pointers.
func TestJavaWithItsMap(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a JVM of another user needs root")
	}
	dir, err := os.MkdirTemp("/tmp", "snag-java-") // where others may come
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "Spin.java")
	if err := os.WriteFile(source, []byte(java), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := exec.Command("javac", "-d", dir, source).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, b)
	}
	cmd := exec.Command("java", "-XX:+PreserveFramePointer", "-XX:CompileCommand=dontinline,Spin::mix", "-XX:CompileCommand=quiet", "-XX:TieredStopAtLevel=1", "-cp", dir, "Spin")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1234, Gid: 1234}}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	pid := run(t, cmd)
	if _, err := out.Read(make([]byte, 100)); err != nil { // it says when it is ready
		t.Fatal(err)
	}
	time.Sleep(time.Second) // its methods are compiled meanwhile
	took, err := jvm.WritePerfMap(context.Background(), "/proc", pid)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove("/tmp/perf-" + strconv.Itoa(pid) + ".map")
	t.Logf("jcmd took %s", took)
	r := sampleAll(t, true, []int{pid}, func() { time.Sleep(1500 * time.Millisecond) })
	o := samplesOf(r, pid)
	o.want(t, "Spin.mix")
	if o.cut > o.samples/5 {
		t.Errorf("%d of %d stacks are said to be cut: %v", o.cut, o.samples, o.in)
	}
	if c, _ := r.Measured("oncpu.symbols"); c.State != recording.CoverageOK {
		t.Errorf("%+v", c)
	}
}

func TestWhatIsNoJVMWritesNoMap(t *testing.T) {
	pid := run(t, exec.Command("sleep", "60"))
	_, err := jvm.WritePerfMap(context.Background(), "/proc", pid)
	if err == nil || !strings.Contains(err.Error(), "is not a JVM") {
		t.Errorf("%v", err)
	}
	// jcmd would have ended it: a program that does not handle SIGQUIT.
	if err := syscall.Kill(pid, 0); err != nil {
		t.Error(err)
	}
}
