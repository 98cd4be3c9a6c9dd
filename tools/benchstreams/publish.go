package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// origin is a real nginx-rtmp with streams on it, in a network namespace.
type origin struct {
	dir, netns string
	urls       []string
	started    []*exec.Cmd
}

const config = `daemon off; master_process off; error_log %[1]s/error.log; pid %[1]s/nginx.pid;
load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
events { worker_connections 4096; }
rtmp { server { listen 1935; chunk_size 4096; application live { live on; } } }
`

// publish makes a clip once, and has one ffmpeg publish it under n names.
func publish(n int) (*origin, error) {
	dir, err := os.MkdirTemp("", "snag-bench-")
	if err != nil {
		return nil, err
	}
	o := &origin{dir: dir, netns: fmt.Sprintf("snagbench%d", os.Getpid())}
	fail := func(err error) (*origin, error) { o.close(); return nil, err }
	clip := filepath.Join(dir, "clip.flv")
	if out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30", "-f", "lavfi", "-i", "sine",
		"-c:v", "libx264", "-preset", "ultrafast", "-b:v", "2400k", "-maxrate", "2400k", "-bufsize", "2400k", "-g", "60", "-pix_fmt", "yuv420p",
		"-c:a", "aac", "-b:a", "96k", "-t", "20", clip).CombinedOutput(); err != nil {
		return fail(fmt.Errorf("make the clip with ffmpeg: %w: %s", err, out))
	}
	for _, args := range [][]string{{"netns", "add", o.netns}, {"-n", o.netns, "link", "set", "lo", "up"}} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			return fail(fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out))
		}
	}
	conf := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, config, dir), 0o600); err != nil {
		return fail(err)
	}
	if err := o.start("nginx", "-c", conf, "-p", dir); err != nil {
		return fail(err)
	}
	time.Sleep(500 * time.Millisecond)
	var tee []string
	for i := range n {
		url := fmt.Sprintf("rtmp://127.0.0.1:1935/live/cam%03d", i)
		o.urls = append(o.urls, url)
		tee = append(tee, "[f=flv:onfail=abort]"+url)
	}
	if err := o.start("ffmpeg", "-v", "error", "-re", "-stream_loop", "-1", "-i", clip, "-map", "0", "-c", "copy", "-f", "tee", strings.Join(tee, "|")); err != nil {
		return fail(err)
	}
	return o, o.awaitLast()
}

// awaitLast waits until the last of the streams is there.
func (o *origin) awaitLast() error {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		cmd := exec.CommandContext(ctx, "ip", "netns", "exec", o.netns, "ffprobe", "-v", "quiet", "-rw_timeout", "3000000", "-show_streams", o.urls[len(o.urls)-1])
		if out, err := cmd.Output(); err == nil && strings.Contains(string(out), "codec_name=h264") {
			return nil
		}
		time.Sleep(500 * time.Millisecond)
	}
	o.close()
	return fmt.Errorf("publish %d streams: the last was not there after 60 s (nginx's and ffmpeg's words are above)", len(o.urls))
}

// command runs in the namespace, and dies with this program.
func (o *origin) command(args ...string) *exec.Cmd {
	cmd := exec.Command("ip", append([]string{"netns", "exec", o.netns}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

func (o *origin) start(args ...string) error {
	cmd := o.command(args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", args[0], err)
	}
	o.started = append(o.started, cmd)
	return nil
}

func (o *origin) close() {
	for i := len(o.started) - 1; i >= 0; i-- {
		_ = o.started[i].Process.Kill() // it may have ended by itself
		_ = o.started[i].Wait()
	}
	_ = exec.Command("ip", "netns", "del", o.netns).Run()
	_ = os.RemoveAll(o.dir)
}
