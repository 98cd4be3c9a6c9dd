package host

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"snag/internal/netns"
	"snag/probes/probe"
	"snag/recording"
)

// Files of one namespace that stay open between readings: a seq_file that is
// read again from 0 is written anew, and stays with the namespace it was opened
// in (kernel fs/proc/proc_net.c, seq_open_net and single_open_net).
var spaceFiles = []string{"netstat", "snmp", "snmp6", "sockstat", "sockstat6"}

// space is one network namespace while it is measured.
type space struct {
	netns.Namespace
	env    *probe.Env
	handle *netns.Handle // nil for the own one
	files  map[string]int
	route  *rtnl
	labels recording.Labels
	shared *shared

	counters  []counter // by shared.index
	qdiscSeen map[string]*qdiscSeen
	linkSeen  map[int]*linkSeen
	addrs     string
}

func openSpace(env *probe.Env, m *meter, sh *shared, n netns.Namespace) (*space, error) {
	sp := &space{
		Namespace: n, env: env, labels: netnsLabels(n), shared: sh, files: map[string]int{},
		qdiscSeen: map[string]*qdiscSeen{}, linkSeen: map[int]*linkSeen{},
	}
	if n.Own {
		return sp, sp.openFiles(filepath.Join(env.Proc, "net"))
	}
	h, err := netns.Open(n)
	if err != nil {
		return nil, err
	}
	sp.handle = h
	err = h.Do(m.inside(func() error { return sp.openFiles(filepath.Join(env.Proc, "thread-self/net")) }))
	if err != nil {
		sp.close()
		return nil, err
	}
	return sp, nil
}

// openFiles runs inside the namespace. A missing file (no IPv6) is not an error;
// a netlink socket that can't be had is told by the measures that need it.
func (sp *space) openFiles(dir string) error {
	for _, name := range spaceFiles {
		fd, err := unix.Open(filepath.Join(dir, name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "open", Path: filepath.Join(dir, name), Err: err}
		}
		sp.files[name] = fd
	}
	sp.route = dialRoute(sp.shared.reply)
	return nil
}

func (sp *space) close() {
	for _, fd := range sp.files {
		unix.Close(fd)
	}
	clear(sp.files)
	if sp.route != nil {
		sp.route.close()
	}
	if sp.handle != nil {
		sp.handle.Close()
	}
}

// read returns the file's present content, good until the next read; false when
// this kernel does not have it.
func (sp *space) read(name string) ([]byte, bool, error) {
	fd, ok := sp.files[name]
	if !ok {
		return nil, false, nil
	}
	for {
		n, err := unix.Pread(fd, sp.shared.file, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, false, fmt.Errorf("read /proc/net/%s: %w", name, err)
		}
		if n < len(sp.shared.file) {
			return sp.shared.file[:n], true, nil
		}
		sp.shared.file = make([]byte, 2*len(sp.shared.file))
	}
}

// with returns the namespace's labels and these.
func (sp *space) with(pairs ...string) recording.Labels {
	l := make(recording.Labels, len(pairs)/2+1)
	maps.Copy(l, sp.labels)
	for i := 0; i+1 < len(pairs); i += 2 {
		l[pairs[i]] = pairs[i+1]
	}
	return l
}

// called is the namespace in a sentence.
func (sp *space) called() string {
	if sp.Own {
		return "the own network namespace"
	}
	return "network namespace " + sp.Name
}

// in is " in network namespace x", or "" for the own one.
func (sp *space) in() string {
	if sp.Own {
		return ""
	}
	return " in network namespace " + sp.Name
}
