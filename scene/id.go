package scene

import (
	"fmt"

	"snag/recording"
)

// IDOf is the node id that a subject has in every scene.
func IDOf(s recording.Subject) NodeID {
	switch s.Kind {
	case recording.KindProcess:
		return NodeID(fmt.Sprintf("process:%d", s.PID))
	case recording.KindThread:
		return NodeID(fmt.Sprintf("thread:%d/%d", s.PID, s.TID))
	case recording.KindSocket, recording.KindListener:
		id := fmt.Sprintf("socket:%d/%s/%s/%s", s.Netns, s.Proto, s.Local, s.Remote)
		if s.Inode != 0 { // two sockets may share an address (SO_REUSEPORT, reuse in time)
			id += fmt.Sprintf("#%d", s.Inode)
		}
		return NodeID(id)
	case recording.KindFlow:
		return NodeID(fmt.Sprintf("flow:%d/%s/%s/%s", s.Netns, s.Proto, s.Local, s.Remote))
	case recording.KindPort:
		return NodeID(fmt.Sprintf("port:%d/%s/%s", s.Netns, s.Proto, s.Local))
	case recording.KindInterface:
		return NodeID(fmt.Sprintf("interface:%d/%s", s.Netns, s.Device))
	case recording.KindQdisc:
		return NodeID(fmt.Sprintf("qdisc:%d/%s/%s", s.Netns, s.Device, s.Handle))
	case recording.KindCgroup:
		return NodeID("cgroup:" + s.Cgroup)
	case recording.KindNetns:
		return NodeID(fmt.Sprintf("netns:%d", s.Netns))
	case recording.KindPeer:
		return NodeID(fmt.Sprintf("peer:%d/%s", s.Netns, s.Remote))
	case recording.KindDisk:
		return NodeID("disk:" + s.Device)
	case recording.KindFile:
		return NodeID("file:" + s.Path)
	default:
		return NodeID(string(s.Kind) + ":" + s.Name)
	}
}
