// Package resting has services beside what is there in large numbers and does little:
// idle connections, threads that sleep, memory that is held, a page cache that is full.
package resting

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/healthy/site"
)

// Web has thousands of connections of which few ask.
var Web = drawn.Family{
	Name: "idle-connections-web", Kind: drawn.Proxy, Origin: drawn.Healthy, Software: []string{"nginx"},
	Needs: site.WebNeeds(), Build: func(b *drawn.Bench) {
		s := site.Web(b)
		site.Program(b, s.Client, "idler", "readers.py", "hold", s.At(80), "/page", 1, b.Int("idle connections", 2000, 10_000))
		s.Browse(b)
	},
}

// Redis is the same with the pools of many apps.
var Redis = drawn.Family{
	Name: "idle-connections-redis", Kind: drawn.Cache, Origin: drawn.Healthy, Software: []string{"Redis"},
	Needs: []lab.Tool{lab.IP, site.Redis, site.Python}, Build: func(b *drawn.Bench) {
		s := site.RedisAt(b, b.Net())
		site.Program(b, s.Client, "pool", "readers.py", "hold", s.At(6379), "-", 1, b.Int("idle connections", 2000, 10_000))
	},
}

// Memory is a program that holds and uses much memory, and files that fill the page cache.
var Memory = drawn.Family{
	Name: "memory-in-use", Kind: drawn.Host, Origin: drawn.Healthy, Software: []string{"nginx", "cat"}, Alone: true, Noisy: true,
	Needs: site.WebNeeds(), Build: func(b *drawn.Bench) {
		s := site.Web(b)
		if held := b.Int("MiB held", 200, 3000); b.Noise() {
			site.Program(b, "", "cache-server", "idlers.py", "memory", held)
		}
		path, size := filepath.Join(b.Dir(), "archive"), b.Int("MiB of files read", 500, 6000)
		// A file of holes fills the page cache as any other, without the disk.
		if f, err := os.Create(path); err != nil || f.Truncate(int64(size)<<20) != nil || f.Close() != nil {
			b.Fail("archive", fmt.Errorf("make a file of %d MiB of holes: %w", size, err))
		}
		site.Loop(b, "reader", "nice cat "+path+" >/dev/null", b.Duration("pause", 10*time.Millisecond, 2*time.Second))
		s.Browse(b)
	},
}

// Processes are many: threads that sleep, a script that forks, a logger that writes into
// a pipe.
var Processes = drawn.Family{
	Name: "many-processes", Kind: drawn.Host, Origin: drawn.Healthy, Software: []string{"nginx", "sh"}, Noisy: true,
	Needs: site.WebNeeds(), Build: func(b *drawn.Bench) {
		s := site.Web(b)
		threads, forks, lines := b.Int("threads that sleep", 50, 3000), b.Int("forks in a row", 1, 50), b.Int("lines per second", 100, 20_000)
		what := drawn.Pick(b.Draw, "beside", "threads", "forks", "chatter", "all")
		if b.Noise() && (what == "threads" || what == "all") {
			site.Program(b, "", "sleepers", "idlers.py", "threads", threads)
		}
		if what == "forks" || what == "all" {
			script := fmt.Sprintf("for i in $(seq %d); do /bin/true; date >/dev/null; grep -c root /etc/passwd >/dev/null; done", forks)
			site.Loop(b, "script", script, b.Duration("pause", 5*time.Millisecond, time.Second))
		}
		if b.Noise() && (what == "chatter" || what == "all") {
			reader := drawn.Pick(b.Draw, "its lines go to", "cat >/dev/null", "grep -c nothing", "gzip -1 >/dev/null")
			b.Run("", "chatter", []string{"sh", "-c", fmt.Sprintf("%s %s chatter chatter %d | %s", site.Python.Command, site.Path(b, "idlers.py"), lines, reader)})
		}
		s.Browse(b)
	},
}
