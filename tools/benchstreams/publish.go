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
	published  int
	started    []*exec.Cmd
}

// mostPublished is under how many names the clip is published at the most. More readers
// share them: what a server receives is not what is measured.
const mostPublished = 20

// urls are n URLs that are no two the same: nginx-rtmp takes what follows a name's
// question mark for arguments.
func (o *origin) urls(n int) (all []string) {
	for i := range n {
		u := fmt.Sprintf("rtmp://127.0.0.1:1935/live/cam%03d", i%o.published)
		if i >= o.published {
			u += fmt.Sprintf("?reader=%d", i/o.published)
		}
		all = append(all, u)
	}
	return all
}

const config = `daemon off; master_process off; error_log %[1]s/error.log; pid %[1]s/nginx.pid;
worker_rlimit_nofile 16384;
load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
events { worker_connections 8192; }
rtmp { server { listen 1935; chunk_size 4096; application live { live on; } } }
`

// publish makes a clip once, and has one ffmpeg publish it under n names.
func publish(kbps, n int) (*origin, error) {
	dir, err := os.MkdirTemp("", "snag-bench-")
	if err != nil {
		return nil, err
	}
	o := &origin{dir: dir, netns: fmt.Sprintf("snagbench%d", os.Getpid()), published: n}
	fail := func(err error) (*origin, error) { o.close(); return nil, err }
	clip := filepath.Join(dir, "clip.flv")
	if err := makeClip(clip, kbps); err != nil {
		return fail(err)
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
	for _, url := range o.urls(n) {
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
		cmd := exec.CommandContext(ctx, "ip", "netns", "exec", o.netns, "ffprobe", "-v", "quiet", "-rw_timeout", "3000000", "-show_streams", o.urls(o.published)[o.published-1])
		if out, err := cmd.Output(); err == nil && strings.Contains(string(out), "codec_name=h264") {
			return nil
		}
		time.Sleep(500 * time.Millisecond)
	}
	o.close()
	return fmt.Errorf("publish %d streams: the last was not there after 60 s (nginx's and ffmpeg's words are above)", o.published)
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
