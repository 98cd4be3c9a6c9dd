package recording

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestFullDisk fills a tmpfs of 2 MB in a mount namespace of the child's own:
// nothing is left mounted, even when the test is killed.
func TestFullDisk(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=small-disk", "SNAG_TEST_DIR="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) || strings.Contains(string(out), "mount tmpfs:") {
		t.Skipf("this user may not mount a tmpfs in its own namespace: %v %s", err, out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

func writeOnSmallDisk(dir string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount tmpfs: %w", err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		return fmt.Errorf("mount tmpfs: %w", err)
	}
	w, err := Create(dir+"/rec", manifest(), Options{every: 20 * time.Millisecond})
	if err != nil {
		return err
	}
	started := time.Now()
	for i := 0; w.Err() == nil; i++ {
		at := start.Add(time.Duration(i) * time.Millisecond)
		w.Append(Process{T: at, PID: i + 1, Cmdline: strings.Repeat("c", 200)})
		w.Sample(at, "node_load1", nil, float64(i))
		if i%20 == 0 {
			time.Sleep(time.Millisecond)
		}
		if time.Since(started) > 20*time.Second {
			return errors.New("2 MB are not full after 20 s")
		}
	}
	select {
	case <-w.Failed():
	default:
		return errors.New("Err is set and Failed is open")
	}
	err = w.Close()
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free some space") {
		return fmt.Errorf("error is %w, want one that says that the disk is full and what helps", err)
	}
	r, oerr := Open(dir + "/rec")
	if oerr != nil {
		return oerr
	}
	if len(r.Processes) < 1000 || len(r.Series) != 1 || len(r.Series[0].Points) < 1000 {
		return fmt.Errorf("%d processes and %d series are left", len(r.Processes), len(r.Series))
	}
	for i, p := range r.Processes {
		if p.PID != i+1 {
			return fmt.Errorf("row %d is that of %d: a hole", i, p.PID)
		}
	}
	for _, d := range r.Damage {
		if strings.Contains(d, tablesDir) {
			return fmt.Errorf("a full disk tore a table: %s", d)
		}
		if strings.Contains(d, samplesDir) {
			return fmt.Errorf("a full disk tore the log of samples: %s", d)
		}
	}
	fmt.Printf("%v\n%d rows, %d samples kept, damage %q\n", err, len(r.Processes), len(r.Series[0].Points), r.Damage)
	return nil
}
