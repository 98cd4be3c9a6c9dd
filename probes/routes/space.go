package routes

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"snag/internal/netns"
	"snag/internal/nldump"
	"snag/internal/procfile"
	"snag/recording"
)

// space is one network namespace while it is looked at. It is not held open
// between visits, so that its interfaces do not outlive it.
type space struct {
	netns.Namespace
	*shared
	labels recording.Labels

	names      map[int]string // devices by index, since the last look at the table
	gateways   map[string]bool
	routes     map[string]recording.Route
	neighbours map[string]string // state by address and device
	states     map[[2]string]int // neighbours by device and state
	rules      map[string]uint64 // packets by rule
	facts      map[string]string
	tableAt    recording.Time
	rulesAt    recording.Time
	round      uint64
}

func newSpace(n netns.Namespace, s *shared) *space {
	sp := &space{
		Namespace: n, shared: s, names: map[int]string{}, gateways: map[string]bool{},
		routes: map[string]recording.Route{}, neighbours: map[string]string{},
		states: map[[2]string]int{}, rules: map[string]uint64{}, facts: map[string]string{},
	}
	s.env.Round.Next(&sp.round)
	if !n.Own {
		sp.labels = recording.Labels{"netns": strconv.FormatUint(n.ID, 10)}
	}
	return sp
}

// visit reads the namespace: the quick things each time, the others when they are
// due or all are asked for.
func (sp *space) visit(all bool) {
	if sp.Own {
		sp.read(all)
		return
	}
	h, err := netns.Open(sp.Namespace)
	if err == nil {
		err = h.Do(sp.meter.inside(func() error { sp.read(all); return nil }))
		h.Close()
	}
	switch {
	case errors.Is(err, netns.ErrNotPermitted):
		sp.meter.noteAll("other network namespaces than the own one were not looked at: entering them is not permitted", "run as root, or give the binary CAP_SYS_ADMIN")
	case err != nil && !errors.Is(err, fs.ErrNotExist): // it ended
		sp.meter.noteAll(err.Error(), "")
	}
}

func (sp *space) read(all bool) {
	now := sp.env.Now()
	if sp.env.Round.Next(&sp.round) { // what is still there is written again; the ring forgets what is not
		clear(sp.routes)
		clear(sp.neighbours)
		clear(sp.rules)
	}
	route := nldump.Dial(unix.NETLINK_ROUTE, sp.reply)
	defer route.Close()
	if all || sp.tableAt == 0 || now.Sub(sp.tableAt) >= everyTable {
		sp.tableAt = now
		sp.measure("routes.table", func() error { return errors.Join(sp.table(), sp.settings(route)) })
	}
	sp.measure("routes.neighbours", sp.lookAround)
	sp.measure("routes.conntrack", sp.conntrack)
	if all || sp.rulesAt == 0 || now.Sub(sp.rulesAt) >= everyRules {
		sp.rulesAt = now
		sp.measure("routes.rules", sp.firewall)
	}
}

func (sp *space) measure(name string, f func() error) {
	err := f()
	if err != nil {
		err = fmt.Errorf("%s: %w", sp.called(), err)
	}
	sp.meter.book(name, err)
}

// called is the namespace in a sentence.
func (sp *space) called() string {
	if sp.Own {
		return "the own network namespace"
	}
	return "network namespace " + sp.Name
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

// device is the name of an interface; it is asked for once between two looks at
// the table.
func (sp *space) device(index int) string {
	if name, ok := sp.names[index]; ok || index <= 0 {
		return name
	}
	name := "if" + strconv.Itoa(index)
	if fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0); err == nil {
		defer unix.Close(fd)
		if ifr, err := unix.NewIfreq(""); err == nil {
			ifr.SetUint32(uint32(index))
			if unix.IoctlIfreq(fd, unix.SIOCGIFNAME, ifr) == nil {
				name = ifr.Name()
			}
		}
	}
	sp.names[index] = name
	return name
}

// fact writes a setting when it is new or changed. The own namespace's are told
// as the host's as well, for who does not know the namespace.
func (sp *space) fact(t recording.Time, name, value, source string) {
	if sp.facts[name] == value {
		return
	}
	sp.facts[name] = value
	sp.env.Sink.Append(recording.Fact{T: t, Name: name, Netns: sp.ID, Value: value, Source: source})
	if sp.Own {
		sp.env.Sink.Append(recording.Fact{T: t, Name: name, Value: value, Source: source})
	}
}

// sysctl reads a setting of the calling thread's namespace; "" where there is none.
func (s *shared) sysctl(name string) string {
	data, err := os.ReadFile(filepath.Join(s.env.Proc, "sys", strings.ReplaceAll(name, ".", "/")))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// stat reads a file of the calling thread's /proc/net/stat; nil where there is
// none.
func (s *shared) stat(file string) (map[string]float64, error) {
	data, err := os.ReadFile(filepath.Join(s.env.Proc, "thread-self", file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return procfile.Statistics(data)
}
