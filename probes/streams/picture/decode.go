package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/internal/tail"
)

// Bounds of a decoder.
const (
	decodeTime   = 5 * time.Second // after which it is killed
	decodeMemory = 2 << 30         // of addresses: a picture of 8192×4320 needs a few hundred MiB
	maxSaid      = 2 << 10         // bytes of what it printed that are kept: the last
)

// limited starts a program with the lowest priority, and limits it before it runs: another user's
// process can't be limited without CAP_SYS_RESOURCE.
var limited = fmt.Sprintf(`ulimit -f 0 && ulimit -v %d && exec nice -n 19 "$0" "$@"`, decodeMemory>>10)

// ErrNoFFmpeg is that there is no decoder.
var ErrNoFFmpeg = errors.New("ffmpeg is not installed, and snag decodes no picture itself: install it (Debian package ffmpeg), or leave --picture out")

// Check tells before anything is read whether ffmpeg is there.
func Check() error {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		return ErrNoFFmpeg
	}
	return nil
}

// Decode has ffmpeg decode a key picture, a byte stream of codec (h264, hevc). It reads and writes
// pipes only, and has the lowest priority.
func Decode(ctx context.Context, codec string, b []byte) (Picture, error) {
	ctx, cancel := context.WithTimeout(ctx, decodeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", limited, "ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "warning", "-protocol_whitelist", "pipe", "-threads", "1", "-f", codec, "-i", "pipe:0",
		"-frames:v", "1", "-filter_threads", "1", "-vf", fmt.Sprintf("scale=%d:%d:flags=area,format=gray", Width, Height), "-f", "rawvideo", "pipe:1")
	said := &tail.Buffer{Most: maxSaid}
	out := &bounded{most: fullPoints + 1}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(b), out, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: nobody()} // Ctrl-C is snag's
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return Picture{}, fmt.Errorf("start ffmpeg: %w", err)
	}
	err := cmd.Wait()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Picture{}, fmt.Errorf("ffmpeg had not decoded it after %s and was killed", decodeTime)
	case err == nil && len(out.b) == fullPoints:
		return Picture{out.b, garbled(said.String())}, nil
	}
	words := strings.Join(strings.Fields(said.String()), " ")
	if words == "" {
		words = "it printed nothing"
	}
	return Picture{}, fmt.Errorf("ffmpeg decoded no picture: %s", words)
}

// damage is what ffmpeg prints of a picture in which it met errors, and whose rest it made up.
var damage = []string{"error while decoding MB", "concealing ", "corrupt decoded frame"}

// garbled tells from what ffmpeg printed whether a picture is damaged.
func garbled(said string) bool {
	return slices.ContainsFunc(damage, func(text string) bool { return strings.Contains(said, text) })
}

// nobody is whom a decoder runs as where snag is root: what it decodes are the bytes of strangers.
// Nil where that can't be: for another user, and for a root without these capabilities.
func nobody() *syscall.Credential {
	const id = 65534 // the kernel's overflow id, which owns nothing
	has, err := kernel.Capabilities("/proc")
	if err != nil || !has.Has(unix.CAP_SETUID) || !has.Has(unix.CAP_SETGID) || os.Geteuid() != 0 {
		return nil
	}
	return &syscall.Credential{Uid: id, Gid: id}
}

// bounded keeps the first bytes.
type bounded struct {
	b    []byte
	most int
}

func (w *bounded) Write(b []byte) (int, error) {
	w.b = append(w.b, b[:min(len(b), w.most-len(w.b))]...)
	return len(b), nil
}
