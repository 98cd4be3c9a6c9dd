package lab

import (
	"fmt"
	"path/filepath"
	"time"
)

// Watch is what a snag watch said, a line of JSON each.
type Watch string

// The watches that run beside a snag find with RunOptions.Watches: files of that folder.
// Alarms has what the viewer's calls were given as the verdict.
const (
	OnHost Watch = "host.jsonl"
	Viewer Watch = "viewer.jsonl"
	Alarms Watch = "alarms.txt"
)

// watchOn is how long a watch goes on after the find, for the verdict on what it saw at
// last.
const watchOn = 20 * time.Second

// WatchBeside names streams that a snag watch reads too, and a snag find does not: others
// of the same server.
func (s *Stage) WatchBeside(urls ...string) { s.beside = append(s.beside, urls...) }

// watch starts the watches in a namespace. The first stream of each stage is called "asked".
func (all stages) watch(at string, o RunOptions) (out []*Process) {
	if o.Watches == "" {
		return nil
	}
	s := all[0]
	var urls []string
	for _, each := range all {
		for i, url := range each.streams {
			if i == 0 {
				url += " name=asked"
			}
			urls = append(urls, url)
		}
		urls = append(urls, each.beside...)
	}
	path := func(w Watch) string { return filepath.Join(o.Watches, string(w)) }
	argv := append([]string{o.SnagPath, "watch", "--json", "--for", (o.For + watchOn).String()}, urls...)
	told := fmt.Sprintf(`sh -c 'printf "%%s\n" "$SNAG_VERDICT" >> %s'`, path(Alarms))
	return []*Process{
		// What it keeps of the host goes where the rest of what it says does.
		s.Run(at, "watch-host", append(append([]string{"env", "TMPDIR=" + o.Watches}, argv...), "--host"), MayEnd(), stdoutTo(path(OnHost))),
		s.Run(at, "watch-viewer", append(argv, "--on-freeze", told), MayEnd(), stdoutTo(path(Viewer))),
	}
}

// ended waits until programs have ended by themselves, as snag does.
func (s *Stage) ended(procs []*Process, within time.Duration) error {
	late := time.After(within)
	for _, p := range procs {
		select {
		case <-p.done:
		case <-s.ctx.Done():
			return s.ctx.Err()
		case <-late:
			return fmt.Errorf("lab: %s has not ended within %v", p.Name, within)
		}
		if code := p.state.ExitCode(); code != 0 && code != 10 {
			return fmt.Errorf("lab: %s: %v: %s", p.Name, p.state, p.tail())
		}
	}
	return nil
}
