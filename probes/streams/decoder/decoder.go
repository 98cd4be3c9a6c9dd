// Package decoder has ffmpeg decode a few bytes of live streams, within bounds: they are the bytes of
// strangers.
package decoder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/internal/tail"
)

// Bounds of a decoder.
const (
	// With the lowest priority on a busy machine a decoder waits for most of that time.
	longest = 15 * time.Second // after which it is killed
	longCPU = 5                // seconds of CPU time after which it is killed (RLIMIT_CPU)
	memory  = 2 << 30          // of addresses: a picture of 8192×4320 needs a few hundred MiB
	maxSaid = 2 << 10          // bytes of what it printed that are kept: the last
)

// limited starts a program with the lowest priority, and limits it before it runs: another user's
// process can't be limited without CAP_SYS_RESOURCE.
var limited = fmt.Sprintf(`ulimit -f 0 && ulimit -t %d && ulimit -v %d && exec nice -n 19 "$0" "$@"`, longCPU, memory>>10)

// ErrNoFFmpeg is that there is no decoder.
var ErrNoFFmpeg = errors.New("ffmpeg is not installed, and snag decodes no picture itself: install it (Debian package ffmpeg), or leave --picture out")

// Check tells before anything is read whether ffmpeg is there.
func Check() error {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		return ErrNoFFmpeg
	}
	return nil
}

// Run has ffmpeg decode b with arguments that name pipe:0 and pipe:1, and gives what it printed. It
// reads and writes pipes only, and has the lowest priority. out gets what it writes. full tells, once
// it ended, whether that is all there should be; what is it: "picture".
func Run(ctx context.Context, what string, b []byte, out io.Writer, full func() bool, argv ...string) (said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	argv = append([]string{"-c", limited, "ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "warning", "-protocol_whitelist", "pipe", "-threads", "1"}, argv...)
	cmd := exec.CommandContext(ctx, "sh", argv...)
	printed := &tail.Buffer{Most: maxSaid}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(b), out, printed
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: nobody()} // Ctrl-C is snag's
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start ffmpeg: %w", err)
	}
	err = cmd.Wait()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("ffmpeg had not decoded it after %s and was killed", longest)
	case outOfTime(err):
		return "", fmt.Errorf("ffmpeg had not decoded it after %d s of CPU time and was killed", longCPU)
	case err == nil && full():
		return printed.String(), nil
	}
	words := strings.Join(strings.Fields(printed.String()), " ")
	if words == "" {
		words = "it printed nothing"
	}
	return "", fmt.Errorf("ffmpeg decoded no %s: %s", what, words)
}

// outOfTime reports that a process was killed for its CPU time, by SIGXCPU or SIGKILL (setrlimit(2)). The
// kernel counts the limit by ticks, and may be off by a part of a second.
func outOfTime(err error) bool {
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		return false
	}
	status, ok := ended.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGXCPU || status.Signal() == syscall.SIGKILL && ended.UserTime()+ended.SystemTime() >= (longCPU-1)*time.Second)
}

// nobody is whom a decoder runs as where snag is root.
// Nil where that can't be: for another user, and for a root without these capabilities.
func nobody() *syscall.Credential {
	const id = 65534 // the kernel's overflow id, which owns nothing
	has, err := kernel.Capabilities("/proc")
	if err != nil || !has.Has(unix.CAP_SETUID) || !has.Has(unix.CAP_SETGID) || os.Geteuid() != 0 {
		return nil
	}
	return &syscall.Credential{Uid: id, Gid: id}
}
