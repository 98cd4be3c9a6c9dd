package host

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"snag/internal/procfile"
	"snag/probes/probe"
	"snag/recording"
)

type factKey struct {
	name  string
	netns uint64
}

// sysctls writes how the host is set, again where it changed.
type sysctls struct {
	env   *probe.Env
	meter *meter
	last  map[factKey]string
}

func newSysctls(env *probe.Env, m *meter) *sysctls {
	return &sysctls{env: env, meter: m, last: map[factKey]string{}}
}

func (s *sysctls) measure(spaces *spaces) {
	s.meter.run("host.sysctl", func(t recording.Time) error {
		maps.DeleteFunc(s.last, func(key factKey, _ string) bool { return key.netns != 0 && spaces.open[key.netns] == nil })
		err := s.read(t, "kernel.release", "kernel.osrelease", 0)
		for _, name := range procfile.MachineSysctls {
			err = keep(err, s.read(t, name, name, 0))
		}
		for _, sp := range spaces.order {
			read := func() error {
				var err error
				for _, name := range procfile.SpaceSysctls {
					err = keep(err, s.read(t, name, name, sp.ID))
					if sp.Own { // and as the host's, for who does not know the namespace
						err = keep(err, s.read(t, name, name, 0))
					}
				}
				return err
			}
			if sp.handle != nil {
				err = keep(err, sp.handle.Do(s.meter.inside(read)))
			} else {
				err = keep(err, read())
			}
		}
		return err
	})
}

// keep returns the first error.
func keep(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// read writes one fact. The files below /proc/sys/net show the settings of the
// calling thread's namespace. A sysctl that this kernel or namespace does not
// show leaves no fact and a note.
func (s *sysctls) read(t recording.Time, fact, sysctl string, netns uint64) error {
	path := filepath.Join(s.env.Proc, "sys", strings.ReplaceAll(sysctl, ".", "/"))
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		where := ""
		if netns != 0 && netns != s.env.Netns {
			where = " in other network namespaces"
		}
		s.meter.note("host.sysctl", "not shown here"+where+": "+sysctl, "")
		return nil
	}
	if err != nil {
		return fmt.Errorf("read sysctl %s: %w", sysctl, err)
	}
	value := strings.Join(strings.Fields(string(data)), " ")
	key := factKey{fact, netns}
	if old, ok := s.last[key]; ok && old == value {
		return nil
	}
	s.last[key] = value
	s.env.Sink.Append(recording.Fact{T: t, Name: fact, Netns: netns, Value: value, Source: path})
	return nil
}
