// Package jobs has batch work beside a web server: under a quota that it uses up, in bursts,
// and logs that are rotated.
package jobs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/healthy/site"
)

// Quota is batch work that has no clients and gets exactly what its cgroup grants.
var Quota = drawn.Family{
	Name: "batch-at-its-quota", Kind: drawn.Host, Origin: drawn.Healthy, Software: []string{"gzip", "Python", "nginx"}, Alone: true, Noisy: true,
	Needs: site.WebNeeds(), Build: func(b *drawn.Bench) {
		s := site.Web(b)
		share := b.Uniform("CPUs granted", 0.05, 0.8)
		group := b.Cgroup("batch", share)
		work := drawn.Pick(b.Draw, "batch does", "gzip -9 </dev/zero >/dev/null", "sha256sum </dev/zero",
			site.Python.Command+" -c 'while True: sum(range(100000))'")
		for i := range b.Int("processes", 1, 6) {
			if !b.Noise() {
				break
			}
			b.Run("", fmt.Sprintf("batch-%d", i), []string{"sh", "-c", work}, lab.In(group), lab.MayEnd())
		}
		s.Browse(b)
	},
}

// Cron is a burst of work each second or so.
var Cron = drawn.Family{
	Name: "cron-bursts", Kind: drawn.Host, Origin: drawn.Healthy, Software: []string{"sh", "nginx"}, Alone: true, Noisy: true,
	Needs: site.WebNeeds(), Build: func(b *drawn.Bench) {
		s := site.Web(b)
		size := b.Int("KiB of a job", 100, 10_000)
		job := fmt.Sprintf("head -c %dk /dev/urandom | tee >(sha256sum >/dev/null) | gzip -1 | wc -c >/dev/null", size)
		script := fmt.Sprintf("for i in $(seq %d); do %s & done; wait", b.Int("jobs at a time", 1, 4), job)
		site.Loop(b, "cron", "nice bash -c '"+script+"'", b.Duration("pause", 300*time.Millisecond, 3*time.Second))
		s.Browse(b)
	},
}

// Logrotate renames nginx's log and has it opened again, each second or so, while lines
// are written.
var Logrotate = drawn.Family{
	Name: "logrotate", Kind: drawn.Host, Origin: drawn.Healthy, Software: []string{"logrotate", "nginx"}, Noisy: true,
	Needs: site.WebNeeds(lab.Tool{Command: "logrotate", Package: "logrotate"}), Build: func(b *drawn.Bench) {
		s := site.Web(b)
		compress := drawn.Pick(b.Draw, "rotated logs", "compress", "nocompress")
		logs := filepath.Join(b.Dir(), "access.log")
		b.File("access.log", strings.Repeat("127.0.0.1 - - a line of yesterday\n", b.Int("lines of yesterday", 1000, 300_000)))
		conf := b.File("logrotate.conf", fmt.Sprintf("%s {\n rotate 4\n %s\n missingok\n postrotate\n  kill -USR1 $(cat %s/nginx.pid)\n endscript\n}\n", logs, compress, b.Dir()))
		if err := os.Chmod(b.Dir(), 0o755); err != nil {
			b.Fail("logrotate", err)
		}
		site.Loop(b, "rotation", fmt.Sprintf("logrotate -f -s %s/logrotate.state %s", b.Dir(), conf), b.Duration("pause", 500*time.Millisecond, 4*time.Second))
		s.Browse(b)
	},
}
