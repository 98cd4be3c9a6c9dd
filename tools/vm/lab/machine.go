package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// run boots the machine with its incidents, waits for its end and reads what it said.
func (b *boot) run(ctx context.Context, length time.Duration) (*said, error) {
	dir := b.dir()
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	extra, out := filepath.Join(dir, "extra"), filepath.Join(dir, "out")
	for _, d := range []string{filepath.Join(extra, "etc"), filepath.Join(extra, "truth"), out} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	settings := fmt.Sprintf("names=%s\nlength=%s\nmodules='%s'\n", strings.Join(b.names(), ","), length, strings.Join(b.modules, " "))
	if err := os.WriteFile(filepath.Join(extra, "etc/lab"), []byte(settings), 0o644); err != nil {
		return nil, err
	}
	for _, name := range b.names() {
		build := exec.CommandContext(ctx, "go", "test", "-c", "-ldflags=-s -w", "-o", filepath.Join(extra, "truth", name+".test"), "./lab/"+name)
		if err := told(build); err != nil {
			return nil, err
		}
	}
	kernel, initrd, err := b.pack(ctx, extra)
	if err != nil {
		return nil, err
	}
	err = b.boot(ctx, kernel, initrd, length)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil {
		err = told(exec.Command("tar", "-xzf", filepath.Join(dir, "out.tar.gz"), "-C", out))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "snag vm: %v; the end of its console:\n%s\n", err, tail(filepath.Join(dir, "console.txt")))
	}
	return readSaid(b, out)
}

// pack makes the initramfs and returns the files to boot.
func (b *boot) pack(ctx context.Context, extra string) (kernel, initrd string, err error) {
	cmd := exec.CommandContext(ctx, "tools/vm/pack.sh", b.suite, "tools/vm/lab-init",
		strings.Join(b.modules, " "), strings.Join(b.tools, " "), extra)
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return "", "", fmt.Errorf("pack the machine %s: %w", b.name(), err)
	}
	lines := strings.Fields(string(raw))
	if len(lines) != 3 {
		return "", "", fmt.Errorf("pack the machine %s: tools/vm/pack.sh printed %q", b.name(), raw)
	}
	return lines[0], lines[1], nil
}

// boot runs the machine; it ends by itself. Its first serial port is the console,
// the second gets the archive of results, the third is where a pause is asked for.
// The processors take turns, and have two features less: see tools/vm/run.sh.
func (b *boot) boot(ctx context.Context, kernel, initrd string, length time.Duration) error {
	dir := b.dir()
	args := []string{"-accel", "tcg,thread=single", "-cpu", "max", "-smp", "2", "-m", fmt.Sprint(b.memory),
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-net", "none",
		"-serial", "file:" + filepath.Join(dir, "console.txt"), "-serial", "file:" + filepath.Join(dir, "out.tar.gz"),
		"-serial", "file:" + filepath.Join(dir, "pauses"),
		"-kernel", kernel, "-initrd", initrd,
		"-append", "console=ttyS0 quiet panic=-1 mitigations=off nokaslr tsc=reliable clearcpuid=112,297"}
	if b.nodes > 1 {
		args = append(args, numa(b.nodes, b.memory)...)
	}
	cmd := exec.Command("qemu-system-x86_64", args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	// Ctrl-C at the terminal is for this program, which ends the machine; and with
	// it, however it ends, the machine goes.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the machine %s: %w", b.name(), err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	pauses := pauser{path: filepath.Join(dir, "pauses"), pid: cmd.Process.Pid}
	limit := time.After(b.limit(length))
	for {
		select {
		case err := <-ended:
			if err != nil {
				return fmt.Errorf("the machine %s: %w", b.name(), err)
			}
			return nil
		case <-ctx.Done():
			return errors.Join(ctx.Err(), cmd.Process.Kill(), <-ended)
		case <-limit:
			return errors.Join(fmt.Errorf("the machine %s did not end in %v", b.name(), b.limit(length)), cmd.Process.Kill(), <-ended)
		case <-time.After(50 * time.Millisecond):
			if err := pauses.look(); err != nil {
				return errors.Join(err, cmd.Process.Kill(), <-ended)
			}
		}
	}
}

// numa gives each node its share of the memory and of the two processors.
func numa(nodes, memory int) (args []string) {
	for n := range nodes {
		cpus := ""
		if n < 2 {
			cpus = fmt.Sprintf(",cpus=%d", n)
		}
		args = append(args,
			"-object", fmt.Sprintf("memory-backend-ram,id=m%d,size=%dM", n, memory/nodes),
			"-numa", fmt.Sprintf("node,nodeid=%d,memdev=m%d%s", n, n, cpus))
	}
	return args
}

// pauseLength is well above what a busy host of virtual machines takes away at a time.
const pauseLength = 4 * time.Second

// pauser stops a machine for a while at each line of a file that it writes.
type pauser struct {
	path string
	pid  int
	done int // lines seen
}

func (p *pauser) look() error {
	raw, err := os.ReadFile(p.path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) { // it has not come so far yet
			return nil
		}
		return err
	}
	asked := strings.Count(string(raw), "\n")
	if asked <= p.done {
		return nil
	}
	p.done = asked
	if err := syscall.Kill(p.pid, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop the machine: %w", err)
	}
	time.Sleep(pauseLength)
	return syscall.Kill(p.pid, syscall.SIGCONT)
}

// told runs a command and returns what it said with its error.
func told(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

func tail(path string) string {
	raw, _ := os.ReadFile(path) // the machine may not have written any
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
