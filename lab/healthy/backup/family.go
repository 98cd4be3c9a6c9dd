// Package backup has backups and builds beside a web server: they use CPU, disk and network as
// much as they get, and nobody waits for them.
package backup

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/healthy/site"
)

// Archive is tar with gzip, and checksums, again and again.
var Archive = drawn.Family{
	Name: "backup-archive", Kind: drawn.Host, Origin: drawn.Healthy, Software: []string{"tar", "gzip", "nginx"}, Alone: true, Noisy: true,
	Needs: site.WebNeeds(), Build: func(b *drawn.Bench) {
		s := site.Web(b)
		data := tree(b)
		script := drawn.Pick(b.Draw, "backup does",
			"tar -C %s -cf - . | gzip -6 > %[2]s.tar.gz", "find %s -type f | xargs sha256sum > %[2]s.sums", "tar -C %s -cf %[2]s.tar . && sync -d %[2]s.tar")
		nice := drawn.Pick(b.Draw, "nice", "", "nice ")
		site.Loop(b, "backup", nice+fmt.Sprintf(script, data, filepath.Join(b.Dir(), "backup")), b.Duration("pause", 10*time.Millisecond, time.Second))
		s.Browse(b)
	},
}

// Copy is rsync over TCP, with a limit or as fast as it goes, and downloads paced by their
// readers.
var Copy = drawn.Family{
	Name: "backup-copy", Kind: drawn.Connections, Origin: drawn.Healthy, Software: []string{"rsync", "nginx"}, Alone: true, Noisy: true,
	Needs: site.WebNeeds(lab.Tool{Command: "rsync", Package: "rsync"}), Build: func(b *drawn.Bench) {
		s := site.WebOn(b, site.Near(b))
		conf := b.File("rsyncd.conf", fmt.Sprintf("use chroot = no\nuid = root\ngid = root\npid file = %s/rsyncd.pid\nlock file = %[1]s/rsyncd.lock\n[data]\npath = %s\n", b.Dir(), tree(b)))
		b.Run(s.Net.Server, "rsyncd", []string{"rsync", "--daemon", "--no-detach", "--address=" + s.Addr, "--config=" + conf})
		b.Await("rsync to listen", 10*time.Second, b.Listens(s.Net.Server, ":873"))
		if b.Noise() {
			limit := b.Int("KiB per second of the copy", 200, 20_000)
			to := filepath.Join(b.Dir(), "copy")
			b.Run(s.Client, "rsync-loop", []string{"sh", "-c", fmt.Sprintf("while :; do rm -rf %s; rsync -a --bwlimit=%d rsync://%s/data/ %s/; sleep 0.5; done", to, limit, s.Addr, to)}, lab.MayEnd())
			if b.Chance("paced downloads", 0.6) {
				site.Program(b, s.Client, "download", "readers.py", "paced", s.At(80), "/large", 0.2, b.Int("downloads", 1, 8), b.LogUniform("bytes per second of a download", 20_000, 500_000))
			}
		}
		s.Browse(b)
	},
}

// Build is a compiler, or git, again and again.
var Build = drawn.Family{
	Name: "build-beside", Kind: drawn.Host, Origin: drawn.Healthy, Software: []string{"gcc", "git", "tar", "nginx"}, Alone: true, Noisy: true,
	Needs: site.WebNeeds(lab.Tool{Command: "gcc", Package: "gcc"}, lab.Tool{Command: "git", Package: "git"}), Build: func(b *drawn.Bench) {
		s := site.Web(b)
		data, dir := tree(b), site.Folder(b, "build")
		b.File("build/part.c", "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nstatic int f(int n){int a[64];for(int i=0;i<64;i++)a[i]=n*i;qsort(a,64,4,(int(*)(const void*,const void*))strcmp);return a[n&63];}\nint main(int c,char**v){printf(\"%d\\n\",f(c));return 0;}\n")
		jobs := b.Int("jobs at a time", 1, 2)
		script := drawn.Pick(b.Draw, "build does",
			fmt.Sprintf("seq 40 | xargs -P %d -I{} gcc -O2 -o %s/part{} %s/part.c", jobs, dir, dir),
			fmt.Sprintf("rm -rf %s/git; git init -q %[1]s/git; cp -r %s %[1]s/git/data; cd %[1]s/git; git add .; git -c user.name=x -c user.email=x@x commit -qm x; git -c pack.threads=%[3]d gc -q --aggressive", dir, data, jobs),
			fmt.Sprintf("tar -C %s -czf %s/package.tgz .; for i in $(seq 10); do rm -rf %[2]s/unpacked; mkdir %[2]s/unpacked; tar -C %[2]s/unpacked -xzf %[2]s/package.tgz; done", data, dir))
		site.Loop(b, "build", drawn.Pick(b.Draw, "nice", "nice -n 5 ", "nice -n 19 ")+"sh -c '"+script+"'", 10*time.Millisecond)
		s.Browse(b)
	},
}

// tree makes a folder of files that are saved, half of their bytes random.
func tree(b *drawn.Bench) string {
	dir := site.Folder(b, "data")
	files, size := b.Int("files", 20, 500), b.Int("bytes of a file", 1000, 200_000)
	r := rand.NewChaCha8([32]byte{byte(b.Seed)})
	for i := range files {
		raw := make([]byte, size)
		_, _ = r.Read(raw[:size/2])
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%d", i)), raw, 0o644); err != nil {
			b.Fail("data", err)
			break
		}
	}
	return dir
}
