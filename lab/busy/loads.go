package busy

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"snag/lab"
)

// Loads are the kinds of work, each beside the service. They are incidents in
// which nobody is wanted.
var Loads = []lab.Incident{
	load("compile", "a compile of Go's standard library, from nothing, again and again", compile, lab.Tool{Command: "go", Package: "golang-go"}),
	load("backup", "a backup: a tree is packed, compressed and summed", backup, lab.Tool{Command: "tar", Package: "tar"}),
	load("install", "a package is unpacked and put in place by dpkg, into its own root", install, lab.Tool{Command: "dpkg-deb", Package: "dpkg"}),
	load("oversubscribed", "twice as many busy threads as CPUs", oversubscribed),
}

func load(name, title string, work func(*lab.Stage) error, needs ...lab.Tool) lab.Incident {
	return lab.Incident{
		Name: "busy-" + name, Title: title,
		Needs: append([]lab.Tool{lab.IP, {Command: "nginx", Package: "nginx"}}, needs...),
		Start: func(s *lab.Stage, _ lab.Variant) error {
			serve(s)
			if s.Err() != nil {
				return s.Err()
			}
			if err := work(s); err != nil {
				return fmt.Errorf("lab: begin the %s: %w", name, err)
			}
			s.Pause(time.Second)
			return s.Err()
		},
	}
}

// again runs a line of shell over and over in the stage's folder. It waits for the
// first words of the work.
func again(s *lab.Stage, name, line string, env ...string) {
	opts := []lab.Option{}
	for _, v := range env {
		opts = append(opts, lab.Env(v))
	}
	p := s.Run("", name, []string{"sh", "-ec", "cd '" + s.Dir() + "'; echo working; while :; do " + line + "; done"}, opts...)
	s.AwaitPrinted(p, "working")
}

func compile(s *lab.Stage) error {
	again(s, "compile", "go build -a std",
		"GOCACHE="+filepath.Join(s.Dir(), "gocache"), "GOFLAGS=", "CGO_ENABLED=0", "GOTMPDIR="+s.Dir())
	return s.Err()
}

// tree is something of some 100 MB: Go's sources where Go is, else what every
// machine has.
func tree(s *lab.Stage) (string, error) {
	dirs := []string{"/usr/local/go/src", "/usr/lib/python3", "/usr/share"}
	if root, err := s.Output("", "go", "env", "GOROOT"); err == nil {
		dirs = append([]string{filepath.Join(strings.TrimSpace(root), "src")}, dirs...)
	}
	for _, dir := range dirs {
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no folder to work on: wanted one of %s", strings.Join(dirs, ", "))
}

func backup(s *lab.Stage) error {
	dir, err := tree(s)
	if err != nil {
		return err
	}
	again(s, "backup", "tar -cf - '"+dir+"' 2>/dev/null | gzip > backup.tgz; sha256sum backup.tgz")
	return s.Err()
}

// install makes a package of some thousand files and unpacks it with dpkg into a
// root in the stage's folder: dpkg's own database there, its fsyncs, and nothing
// of the host's.
func install(s *lab.Stage) error {
	dir, err := tree(s)
	if err != nil {
		return err
	}
	pkg, root := filepath.Join(s.Dir(), "pkg"), filepath.Join(s.Dir(), "root")
	for _, d := range []string{
		filepath.Join(pkg, "DEBIAN"), filepath.Join(pkg, "opt"),
		filepath.Join(root, "var/lib/dpkg/info"), filepath.Join(root, "var/lib/dpkg/updates"),
	} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	control := "Package: snag-lab\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@localhost>\nDescription: files for the lab\n"
	for path, text := range map[string]string{filepath.Join(pkg, "DEBIAN/control"): control, filepath.Join(root, "var/lib/dpkg/status"): ""} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	s.Command("", "sh", "-c", "find '"+dir+"' -type f -name '*.[gp][oy]' | head -3000 | xargs cp --parents -t '"+filepath.Join(pkg, "opt")+"'")
	s.Command("", "dpkg-deb", "--build", "-Zgzip", "-z1", pkg, filepath.Join(s.Dir(), "lab.deb"))
	again(s, "install", "dpkg --root='"+root+"' --force-all --unpack lab.deb")
	return s.Err()
}

func oversubscribed(s *lab.Stage) error {
	p := s.Actor("", "simulation", "burner", []string{"--threads", fmt.Sprint(2 * runtime.NumCPU())})
	s.AwaitPrinted(p, "ready")
	return s.Err()
}
