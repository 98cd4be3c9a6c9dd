package sockets

import (
	"encoding/binary"
	"regexp"

	"snag/probes/sockets/diag"
	"snag/recording"
)

// unixFamily is AF_UNIX, in place of 4 or 6 in a flow.
const unixFamily = 1

// unixEnds are the ends of a flow between processes of this host. Who connects has no
// address: its side is the bare prefix.
func unixEnds(f kernelFlow, who names) ends {
	e := ends{netns: uint64(f.Netns), localHost: recording.UnixPrefix, remoteHost: recording.UnixPrefix}
	e.local = who.path(binary.LittleEndian.Uint64(f.Laddr[:]))
	e.remote = who.path(binary.LittleEndian.Uint64(f.Raddr[:]))
	return e
}

// unixPath asks the kernel side for the address of that id; "" where it has none.
func (k *inKernel) unixPath(id uint64) string {
	var p kernelUnixPath
	if err := k.maps.Maps["unix_paths"].Lookup(&id, &p); err != nil {
		return ""
	}
	return recording.UnixPrefix + diag.UnixName(p.Name[:min(int(p.Length), len(p.Name))])
}

// events are sockets on which both ends say what they want when they want: a message bus, a
// display, sound, logs and notifications. What is sent there next answers nothing.
var events = regexp.MustCompile(`^unix:(/run/systemd/|/(var/)?run/dbus/|/run/user/\d+/(bus|systemd/|wayland-|pipewire-|pulse/|at-spi/)|/run/udev/|/run/avahi-daemon/|` +
	`@?/tmp/\.(X11|ICE|XIM)-unix/|@?/tmp/dbus-|@/home/.*/dbus-|/dev/log$|/run/rsyslog/|@?/org/)`)

// requestsAt reports whether turns of a row on a UNIX socket are requests.
func requestsAt(row recording.Turns) bool {
	at := row.Local
	if row.Role == "call" {
		at = row.Remote
	}
	return at != "" && !events.MatchString(at)
}
