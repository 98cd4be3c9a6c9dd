package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"snag/lab"
)

// recorders starts a snag record at each host, and waits until the querier knows all of them.
//
// Each is limited to its own namespace (--own-netns), and sees no process of another host: otherwise the verdict of one
// host could name what only another can see. ip netns exec gives it a /sys of its namespace, which hides the control
// groups: they are mounted there again.
func (f *Fleet) recorders() {
	groups := filepath.Join(f.Dir(), "cgroup")
	if err := os.MkdirAll(groups, 0o755); err != nil {
		f.Fail("snag record", err)
		return
	}
	for _, h := range Hosts {
		argv := []string{"unshare", "--mount", "sh", "-c", `mount --rbind /sys/fs/cgroup "$0" && exec ip netns exec "$1" sh -c 'mount --rbind "$0" /sys/fs/cgroup && shift && exec "$@"' "$0" "$@"`, groups, f.Name(h.Name), f.snag, "record", "--own-netns", "--ring", filepath.Join(f.Dir(), "ring-"+h.Name), "--size", "64MB",
			"--remote-write", f.Store.write, "--remote-write-label", "instance=" + h.Name, "--remote-write-label", "role=" + string(h.Role)}
		if h.Role == Players {
			argv = append(argv, "--stream", live())
		}
		f.procs["record-"+h.Name] = f.Run("", "record-"+h.Name, argv, lab.MayEnd())
	}
	f.Await("the querier to know all recorders", 90*time.Second, func() (bool, error) {
		found, err := f.query(`count(count by (instance) (snag_record_up))`, time.Time{})
		return err == nil && len(found) == 1 && found[0].last() == float64(len(Hosts)), err
	})
}

// recordersAlive is an error if one has ended.
func (f *Fleet) recordersAlive() error {
	var dead []string
	for _, h := range Hosts {
		if p := f.procs["record-"+h.Name]; p.Ended() {
			dead = append(dead, h.Name+": "+strings.TrimSpace(p.Printed()))
		}
	}
	if len(dead) > 0 {
		return fmt.Errorf("lab: recorders ended: %s", strings.Join(dead, "; "))
	}
	return nil
}
