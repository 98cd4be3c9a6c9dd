// Package forwards reads which address of a service stands for which servers on this host: what connection tracking
// rewrites (NAT to a destination, as Kubernetes' service addresses and port forwards have it) and what IPVS balances.
// Who calls such an address can so be joined with who answers.
package forwards

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/internal/nldump"
	"snag/internal/sorting"
)

// Forward is an address and port that stands for another.
type Forward struct {
	From, To netip.AddrPort
	// Connections that are tracked or balanced now; 0 of a server that IPVS has and nobody uses.
	Connections int
}

// Bounds of what is read and kept. A table of 262,144 entries, Linux' own limit on a host of 4 GB, takes about a
// quarter of a second of CPU.
const (
	mostEntries = 300_000
	mostKept    = 100
)

// Read reads this network namespace: proc and sys are their mount points. A host without either has none.
func Read(proc, sys string) ([]Forward, error) {
	found := map[Forward]int{}
	err := tracked(proc, sys, found)
	text, ipvs := os.ReadFile(filepath.Join(proc, "thread-self/net/ip_vs"))
	switch {
	case ipvs == nil:
		balanced(string(text), found)
	case !errors.Is(ipvs, fs.ErrNotExist):
		err = errors.Join(err, ipvs)
	}
	return kept(found), err
}

// tracked asks connection tracking, if it is in use: asking must not load it.
func tracked(proc, sys string, into map[Forward]int) error {
	count, err := os.ReadFile(filepath.Join(proc, "thread-self/net/stat/nf_conntrack"))
	if len(count) == 0 && err != nil || !kernel.ModuleThere(proc, sys, kernel.Modules(), "nf_conntrack_netlink") {
		return nil
	}
	conn := nldump.Dial(unix.NETLINK_NETFILTER, make([]byte, nldump.ReplyMost))
	defer conn.Close()
	n := 0
	err = conn.Dump(getConntrack, rewritten(), func(data []byte) error {
		if n++; n > mostEntries {
			return nldump.ErrEnough
		}
		if f, ok := decode(data); ok {
			into[f]++
		}
		return nil
	})
	switch {
	case errors.Is(err, nldump.ErrEnough), errors.Is(err, nldump.ErrInterrupted):
		return nil // connections come and go meanwhile
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EOPNOTSUPP):
		return nil // this kernel tracks nothing that can be asked for
	}
	return err
}

// kept are those with most connections.
func kept(found map[Forward]int) []Forward {
	var out []Forward
	for f := range maps.Keys(found) {
		f.Connections = found[f]
		out = append(out, f)
	}
	sorting.By(out, func(a, b Forward) int {
		return cmp.Or(cmp.Compare(b.Connections, a.Connections), a.From.Compare(b.From), a.To.Compare(b.To))
	})
	return out[:min(len(out), mostKept)]
}
