package jvm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// mostJcmd is how long jcmd may take: a JVM that stands still does not answer.
const mostJcmd = 15 * time.Second

// WritePerfMap has a JVM write the names of its compiled methods to
// /tmp/perf-PID.map, as it sees /tmp (jcmd Compiler.perfmap, JDK 17 and later), and
// returns how long that took. The JVM's compilers stand still meanwhile, and its
// threads may. jcmd runs as the JVM's user, from whom alone a JVM takes commands.
func WritePerfMap(ctx context.Context, proc string, pid int) (time.Duration, error) {
	if err := isJVM(proc, pid); err != nil {
		return 0, err
	}
	jcmd, err := findJcmd(proc, pid)
	if err != nil {
		return 0, err
	}
	who, err := owner(proc, pid)
	if err != nil {
		return 0, fmt.Errorf("find the user of process %d: %w", pid, err)
	}
	ctx, cancel := context.WithTimeout(ctx, mostJcmd)
	defer cancel()
	cmd := exec.CommandContext(ctx, jcmd, strconv.Itoa(pid), "Compiler.perfmap")
	cmd.Dir = "/"
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	}
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	switch {
	case ctx.Err() != nil:
		return took, fmt.Errorf("jcmd %d Compiler.perfmap: no answer within %s", pid, mostJcmd)
	case bytes.Contains(out, []byte("Unknown diagnostic command")):
		return took, fmt.Errorf("jcmd %d Compiler.perfmap: this JVM does not know it (JDK 17 and later do): load perf-map-agent into it instead", pid)
	case err != nil:
		return took, fmt.Errorf("jcmd %d Compiler.perfmap: %w: %s", pid, err, firstLine(out))
	}
	return took, nil
}

// isJVM reports why a process is no JVM that takes commands. To begin a talk jcmd sends
// SIGQUIT, which ends any other process (older JDKs do not look either).
func isJVM(proc string, pid int) error {
	dir := proc + "/" + strconv.Itoa(pid)
	maps, err := os.ReadFile(dir + "/maps")
	if err != nil {
		return fmt.Errorf("look at process %d: %w", pid, err)
	}
	if !bytes.Contains(maps, []byte("/libjvm.so")) {
		return fmt.Errorf("process %d (%s) is not a JVM: it has no libjvm.so", pid, comm(proc, pid))
	}
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return fmt.Errorf("look at process %d: %w", pid, err)
	}
	if !catches(string(status), syscall.SIGQUIT) {
		return fmt.Errorf("process %d (%s) does not handle SIGQUIT, so it takes no commands: was it started with -Xrs, or has it just begun?", pid, comm(proc, pid))
	}
	return nil
}

// catches reads SigCgt of /proc/PID/status: a bit for each signal that is handled.
func catches(status string, signal syscall.Signal) bool {
	_, rest, ok := strings.Cut(status, "\nSigCgt:")
	if !ok {
		return false
	}
	line, _, _ := strings.Cut(rest, "\n")
	mask, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	return err == nil && mask&(1<<(signal-1)) != 0
}

func firstLine(out []byte) string {
	for _, line := range strings.Split(string(out), "\n") {
		// The first lines are its own pid and Java's stack.
		if line = strings.TrimSpace(line); line != "" && !strings.HasSuffix(line, ":") && !strings.HasPrefix(line, "at ") {
			return line[:min(len(line), 200)]
		}
	}
	return "it said nothing"
}

// findJcmd is the jcmd of the path, else the one beside the JVM's own program, if
// that is a file of this mount namespace that only root may write.
func findJcmd(proc string, pid int) (string, error) {
	if path, err := exec.LookPath("jcmd"); err == nil {
		return path, nil
	}
	missing := errors.New("find jcmd: it is not on the path: install a JDK (17 or later), or put its bin directory on PATH")
	dir := proc + "/" + strconv.Itoa(pid)
	own, err1 := os.Readlink(proc + "/self/ns/mnt")
	its, err2 := os.Readlink(dir + "/ns/mnt")
	exe, err3 := os.Readlink(dir + "/exe")
	if err1 != nil || err2 != nil || err3 != nil || own != its {
		return "", missing
	}
	path := filepath.Join(filepath.Dir(exe), "jcmd")
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 {
		return "", missing
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != 0 {
		return "", missing
	}
	return path, nil
}

// owner is the effective user and group of a process (Uid and Gid of
// /proc/PID/status, the second of each).
func owner(proc string, pid int) (*syscall.Credential, error) {
	b, err := os.ReadFile(proc + "/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return nil, err
	}
	c := &syscall.Credential{}
	found := 0
	for _, line := range strings.Split(string(b), "\n") {
		name, rest, _ := strings.Cut(line, ":")
		f := strings.Fields(rest)
		if name != "Uid" && name != "Gid" || len(f) < 2 {
			continue
		}
		id, err := strconv.ParseUint(f[1], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("status: %s %q: %w", name, f[1], err)
		}
		if found++; name == "Uid" {
			c.Uid = uint32(id)
		} else {
			c.Gid = uint32(id)
		}
	}
	if found != 2 {
		return nil, errors.New("status has no Uid and Gid")
	}
	return c, nil
}
