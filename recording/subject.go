package recording

import "strings"

// Kind is what sort of thing a Subject is.
type Kind string

// The kinds of things that can be observed, suspected and named.
const (
	KindHost      Kind = "host"
	KindProcess   Kind = "process"
	KindThread    Kind = "thread"
	KindSocket    Kind = "socket"
	KindListener  Kind = "listener"
	KindFlow      Kind = "flow"
	KindPort      Kind = "port" // a port that no socket holds
	KindInterface Kind = "interface"
	KindQdisc     Kind = "qdisc"
	KindCgroup    Kind = "cgroup"
	KindNetns     Kind = "netns"
	KindPeer      Kind = "peer"
	KindCPU       Kind = "cpu"
	KindFile      Kind = "file"
	KindStream    Kind = "stream"
	KindObserver  Kind = "observer" // snag itself
	KindDisk      Kind = "disk"     // a block device: Device
	KindFunction  Kind = "function" // of the kernel: Name says which, and under what
	KindMemory    Kind = "memory"   // a part of the machine's memory: Name ("node 0, zone Normal")
)

// Kinds lists them all; the schema of the verdict does too.
var Kinds = []Kind{
	KindHost, KindProcess, KindThread, KindSocket, KindListener, KindFlow, KindPort, KindInterface, KindQdisc,
	KindCgroup, KindNetns, KindPeer, KindCPU, KindFile, KindStream, KindObserver, KindDisk, KindMemory, KindFunction,
}

// Subject names one thing on the host. Only the fields that its kind has are
// set; Name is what a person would call it and is always set once the scene
// has been built ("nginx[812] listening on 0.0.0.0:1935").
type Subject struct {
	Kind   Kind   `json:"kind"`
	Name   string `json:"name,omitempty"`
	Netns  uint64 `json:"netns,omitempty"` // inode of the network namespace; 0: the host's or not tied to one
	PID    int    `json:"pid,omitempty"`
	TID    int    `json:"tid,omitempty"`
	Comm   string `json:"comm,omitempty"`
	Proto  string `json:"proto,omitempty"`  // tcp, udp or unix
	Local  string `json:"local,omitempty"`  // address:port, or "unix:/path"
	Remote string `json:"remote,omitempty"` // address:port, or an address alone for a peer
	Inode  uint64 `json:"inode,omitempty"`  // of a socket
	Device string `json:"device,omitempty"` // interface, disk
	Handle string `json:"handle,omitempty"` // qdisc handle, "8001:"
	Cgroup string `json:"cgroup,omitempty"` // path below the hierarchy's root
	Path   string `json:"path,omitempty"`   // of a file or knob
	// Host that it is on; "" is the recording's own. A reader sets it in events of
	// files that name several hosts, the verdict where a recording is of several.
	Host string `json:"host,omitempty"`
}

// UnixPrefix begins the address of a UNIX socket: "unix:/run/php.sock", "unix:@name" of an
// abstract one.
const UnixPrefix = "unix:"

// IsUnix reports whether an address is a UNIX socket's.
func IsUnix(addr string) bool { return strings.HasPrefix(addr, UnixPrefix) }

// Port returns the port of an address:port, or ""; of a UNIX socket all of its path.
func Port(addr string) string {
	if IsUnix(addr) {
		return addr[len(UnixPrefix):]
	}
	if i := strings.LastIndexByte(addr, ':'); i >= 0 {
		return addr[i+1:]
	}
	return ""
}

// Host returns the address of an address:port without brackets; an address
// without a port, and that of a UNIX socket, come back as they are.
func Host(addr string) string {
	if IsUnix(addr) {
		return addr
	}
	i := strings.LastIndexByte(addr, ':')
	if i < 0 || (strings.Count(addr, ":") > 1 && !strings.HasPrefix(addr, "[")) {
		return addr
	}
	return strings.Trim(addr[:i], "[]")
}
