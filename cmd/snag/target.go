package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/netns"
	"snag/probes"
	"snag/recording"
)

// addTarget adds the flags that name processes; verb says what is done to them.
func addTarget(cmd *cobra.Command, t *recording.Target, verb string) {
	flags := cmd.Flags()
	flags.IntVar(&t.PID, "pid", 0, verb+" this process and its children")
	flags.StringVar(&t.Unit, "unit", "", verb+" this systemd unit, as nginx")
	flags.IntVar(&t.Port, "port", 0, verb+" what listens on this port, TCP or UDP")
	flags.StringVar(&t.Container, "container", "", verb+" this container: its name, or its id or how that begins")
	flags.StringVar(&t.Pod, "pod", "", verb+" this pod of Kubernetes, as NAMESPACE/NAME")
	flags.StringVar(&t.Netns, "netns", "", verb+" this network namespace, by name or inode")
}

// targets are the flags of addTarget.
var targets = []string{"pid", "unit", "port", "container", "pod", "netns"}

// checkTarget refuses values that name nothing.
func checkTarget(cmd *cobra.Command, t recording.Target) error {
	changed := cmd.Flags().Changed
	switch {
	case changed("pid") && t.PID < 1:
		return cli.Usage("--pid %d: a pid is a positive number", t.PID)
	case changed("port") && (t.Port < 1 || t.Port > 65535):
		return cli.Usage("--port %d: a port is a number from 1 to 65535", t.Port)
	case changed("unit") && t.Unit == "":
		return cli.Usage("--unit: the unit has no name")
	case changed("container") && t.Container == "":
		return cli.Usage("--container: the container has no name")
	case changed("pod") && strings.Count(t.Pod, "/") != 1:
		return cli.Usage("--pod %s: a pod is NAMESPACE/NAME, as shop/web-0", t.Pod)
	case changed("netns") && t.Netns == "":
		return cli.Usage("--netns: the network namespace has no name")
	}
	return nil
}

// given is how many of those flags are there.
func given(cmd *cobra.Command, names []string, more ...string) int {
	n := 0
	for _, name := range slices.Concat(names, more) {
		if cmd.Flags().Changed(name) {
			n++
		}
	}
	return n
}

// ownNetns is the network namespace that snag is in.
func ownNetns() (uint64, error) {
	own, err := netns.IDOf("/proc/self/ns/net")
	if err != nil {
		return 0, fmt.Errorf("find snag's own network namespace: %w (is /proc mounted?)", err)
	}
	return own, nil
}

// resolved is the target with its processes; of a network namespace, those in it.
func resolved(t recording.Target) (recording.Target, error) {
	own, err := ownNetns()
	if err != nil {
		return t, err
	}
	t, err = probes.Resolve("/proc", own, t)
	if err != nil || t.Netns == "" {
		return t, err
	}
	if t.PIDs = netns.Processes("/proc", t.NetnsID); len(t.PIDs) == 0 {
		return t, fmt.Errorf("look at network namespace %q: no process is in it (snag find --netns looks at its sockets and interfaces)", t.Netns)
	}
	return t, nil
}

// folderOf refuses a file to write whose folder is not there: not known only after
// the recording.
func folderOf(flag, file string) error {
	if file == "" {
		return nil
	}
	dir := filepath.Dir(file)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return cli.Usage("--%s %s: there is no folder %s", flag, file, dir)
	}
	return nil
}
