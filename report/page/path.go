package page

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
)

// maxSockets of one side of a process are drawn each; the rest are one node.
const maxSockets = 4

// pathBuilder draws one path.
type pathBuilder struct {
	*builder
	Path
	at   map[string]int
	ends map[string]int // sockets that a process at the other end is the peer of
}

func (b *builder) path(f focus) Path {
	p := &pathBuilder{builder: b, at: map[string]int{}, ends: map[string]int{}}
	p.Nodes, p.Edges = []Node{}, []Edge{}
	switch {
	case f.process != nil:
		p.Title = f.process.Subject.Name
		p.around(f)
	case f.socket != nil:
		p.Title = f.socket.Subject.Name
		p.socket(f.socket, LaneSocketIn, "")
	default:
		p.Title = b.s.Name(f.subject)
		p.alone(f.subject)
	}
	return p.Path
}

// node adds a hop once.
func (p *pathBuilder) node(n Node) string {
	n.ID = fmt.Sprintf("%s@%d", n.ID, n.Lane)
	if _, have := p.at[n.ID]; !have {
		p.at[n.ID] = len(p.Nodes)
		if n.Numbers == nil {
			n.Numbers = []Number{}
		}
		if n.Marks == nil {
			n.Marks = []Mark{}
		}
		p.Nodes = append(p.Nodes, n)
	}
	return n.ID
}

func (p *pathBuilder) edge(from, to, text string) {
	if from == "" || to == "" || from == to {
		return
	}
	for i, e := range p.Edges {
		if e.From == from && e.To == to {
			if e.Text == "" {
				p.Edges[i].Text = text
			}
			return
		}
	}
	p.Edges = append(p.Edges, Edge{from, to, text})
}

// around draws a process with its sockets on both sides.
func (p *pathBuilder) around(f focus) {
	proc := f.process
	at := p.node(Node{
		ID: string(proc.ID), Lane: LaneProcess, Kind: "process", Title: fmt.Sprintf("%s[%d]", proc.Subject.Comm, proc.Subject.PID),
		Note: p.where(proc.Subject.Netns), Numbers: p.processNumbers(proc), Marks: p.marks[proc.ID],
	})
	sides := map[int][]*scene.Socket{}
	relay := relays(proc)
	for _, k := range proc.Sockets {
		side := sideOf(k, relay)
		sides[side] = append(sides[side], k)
	}
	for _, side := range []int{LaneSocketIn, LaneSocketOut} {
		all := sides[side]
		weight := map[*scene.Socket]float64{}
		for _, k := range all {
			weight[k] = p.weight(k)
		}
		sort.SliceStable(all, func(i, j int) bool { return weight[all[i]] > weight[all[j]] })
		for i, k := range all {
			if i == maxSockets-1 && len(all) > maxSockets {
				p.others(all[i:], side, at)
				break
			}
			p.socket(k, side, at)
		}
	}
	p.limitedBy(proc, at)
	if f.subject.Kind != "" {
		p.hang(f.subject, at)
	}
}

// relays reports whether a process reads on some of its connections and writes on
// others.
func relays(proc *scene.Process) bool {
	reads, writes := false, false
	for _, k := range proc.Sockets {
		if in, out, ok := moved(k); ok {
			reads = reads || in > 4*out && in > 0
			writes = writes || out > 4*in && out > 0
		}
	}
	return reads && writes
}

// sideOf is the side of its process that a socket is drawn on: data come in by
// what was accepted or bound, and go out by what was connected; of a relay's
// connections the bytes tell.
func sideOf(k *scene.Socket, relay bool) int {
	f := k.First()
	in, out, ok := moved(k)
	switch {
	case k.Listening():
		return LaneSocketIn
	case f.Proto == "udp":
		if k.DropsGrew() == 0 && (f.Remote != "" || chosen(f.Local)) {
			return LaneSocketOut
		}
		return LaneSocketIn
	case ok && relay && in != out:
		if out > in {
			return LaneSocketOut
		}
		return LaneSocketIn
	case k.Listener != nil:
		return LaneSocketIn
	case ok && in > 4*out:
		return LaneSocketIn
	}
	return LaneSocketOut
}

// chosen reports whether the kernel chose that port (ip_local_port_range begins at
// 32768 by default), as it does for a socket that only sends.
func chosen(local string) bool {
	port, err := strconv.Atoi(recording.Port(local))
	return err == nil && port >= 32768
}

// socket draws a socket with its interface and its peer on one side.
func (p *pathBuilder) socket(k *scene.Socket, lane int, process string) {
	f := k.First()
	n := Node{ID: string(k.ID), Lane: lane, Kind: "socket", Title: f.Proto + " " + f.Local, Numbers: p.socketNumbers(k), Marks: p.marks[k.ID]}
	if k.Listening() {
		n.Kind, n.Note = "listener", "listening"
	} else if f.Remote != "" {
		n.Note = "→ " + f.Remote
	}
	at := p.node(n)
	p.flow(lane, at, process, throughput(k, lane, p.r.Length().Seconds()))
	device := p.device(k, lane)
	if device != "" {
		p.flow(lane, device, at, "")
		at = device
	}
	for _, peer := range p.peers(k, lane) {
		if peer.device != "" {
			p.flow(lane, peer.device, at, "")
			p.flow(lane, peer.node, peer.device, peer.text)
			continue
		}
		p.flow(lane, peer.node, at, peer.text)
	}
}

// flow ties outer to inner in the direction in which data go on that side.
func (p *pathBuilder) flow(lane int, outer, inner, text string) {
	if lane < LaneProcess {
		p.edge(outer, inner, text)
	} else {
		p.edge(inner, outer, text)
	}
}

func throughput(k *scene.Socket, lane int, seconds float64) string {
	in, out, ok := moved(k)
	if !ok || seconds <= 0 {
		return ""
	}
	if lane >= LaneProcess {
		in = out
	}
	return units.Bytes(in/seconds) + "/s"
}

// others is one node for the sockets that are not drawn each.
func (p *pathBuilder) others(all []*scene.Socket, lane int, process string) {
	n := Node{ID: "others", Lane: lane, Kind: "others", Title: fmt.Sprintf("%s more sockets", units.Count(float64(len(all))))}
	drops, queued, bytes := uint64(0), 0, 0.0
	for _, k := range all {
		in, out, _ := moved(k)
		drops, bytes = drops+k.DropsGrew(), bytes+in+out
		if !k.Listening() {
			queued += k.Last().RecvQ + k.Last().SendQ
		}
	}
	n.Numbers = append(n.Numbers, Number{"moved", units.Bytes(bytes), false}, Number{"in queues at the end", units.Bytes(float64(queued)), false})
	if drops > 0 {
		n.Numbers = append(n.Numbers, Number{"drops", units.Count(float64(drops)), true})
	}
	p.flow(lane, p.node(n), process, "")
}

// limitedBy hangs the control groups that limit a process below it.
func (p *pathBuilder) limitedBy(proc *scene.Process, at string) {
	for _, id := range p.s.Neighbours(proc.ID, scene.LimitedBy) {
		for _, c := range p.s.Cgroups {
			if c.ID == id && (c.Row.Quota > 0 || len(p.marks[id]) > 0) {
				p.hang(c.Subject, at)
			}
		}
	}
}

// hang draws what holds a process without being on the way of its data: a
// control group, the host, a namespace, a CPU, a file.
func (p *pathBuilder) hang(sub recording.Subject, at string) {
	if sub.Kind == recording.KindInterface || sub.Kind == recording.KindQdisc {
		p.behind(sub, at)
		return
	}
	n := p.subjectNode(sub, LaneProcess)
	p.edge(p.node(n), at, "")
}

// behind draws an interface that the packets cross further on, on a router, below
// the interface by which they leave.
func (p *pathBuilder) behind(sub recording.Subject, at string) {
	for _, lane := range []int{LaneDeviceIn, LaneDeviceOut} {
		for _, n := range p.Nodes {
			if n.Lane == lane {
				at = n.ID
			}
		}
	}
	p.edge(p.deviceNode(sub.Netns, sub.Device, LaneDeviceOut), at, "")
}

func (p *pathBuilder) subjectNode(sub recording.Subject, lane int) Node {
	n := Node{ID: string(scene.IDOf(sub)), Lane: lane, Kind: string(sub.Kind), Title: sub.Name, Marks: p.marks[p.nodeID(sub)]}
	switch sub.Kind {
	case recording.KindCgroup:
		n.Title, n.Note, n.Numbers = sub.Cgroup, "control group", p.cgroupNumbers(sub)
	case recording.KindPort:
		n.Title, n.Note = sub.Proto+" port "+sub.Local, p.where(sub.Netns)
	}
	if n.Title == "" {
		n.Title = p.s.Name(sub)
	}
	return n
}

// alone draws a subject that no process stands at: a port that no socket holds
// with whoever sent to it, a device.
func (p *pathBuilder) alone(sub recording.Subject) {
	if sub.Kind == recording.KindInterface || sub.Kind == recording.KindQdisc {
		p.deviceNode(sub.Netns, sub.Device, LaneDeviceOut)
		return
	}
	if sub.Local == "" {
		p.node(p.subjectNode(sub, LaneProcess))
		return
	}
	n := p.subjectNode(sub, LaneSocketIn)
	senders := p.senders(sub)
	for _, s := range senders {
		if s.drops > 0 {
			n.Numbers = []Number{{"dropped", units.Count(float64(s.total)), true}}
		}
	}
	holder := p.holder(sub)
	if _, seen := p.r.Measured("sockets.diag"); holder == nil && seen && sub.Kind == recording.KindPort {
		n.Note = strings.TrimPrefix(n.Note+" · no socket holds it", " · ")
	}
	at := p.node(n)
	if holder != nil {
		if owner := holder.Owner(); owner != nil {
			p.edge(at, p.node(Node{ID: string(owner.ID), Lane: LaneProcess, Kind: "process", Title: process(owner.Subject.PID, owner.Subject.Comm),
				Note: p.where(owner.Subject.Netns), Numbers: p.processNumbers(owner), Marks: p.marks[owner.ID]}), "")
		}
	}
	device := ""
	for _, s := range senders {
		if s.device != "" && device == "" {
			device = p.deviceNode(sub.Netns, s.device, LaneDeviceIn)
			p.edge(device, at, "")
		}
	}
	if device != "" {
		at = device
	}
	for _, s := range senders {
		p.edge(p.node(s.node), at, "")
	}
}

// holder is the socket that a port belongs to after all, nil if none does.
func (p *pathBuilder) holder(sub recording.Subject) *scene.Socket {
	if n := p.s.Anchor(sub); n != nil && sub.Local != "" {
		if k := p.s.Socket(n.ID); k != nil {
			return k
		}
	}
	if sub.Proto == "udp" {
		return p.s.UDPOn(sub.Netns, sub.Local)
	}
	return p.s.ListenerOn(sub.Netns, sub.Local)
}

// where is the namespace in words, "" for the own one.
func (p *pathBuilder) where(netns uint64) string {
	if n := p.s.NetnsName(netns); n != "" {
		return "netns " + n
	}
	return ""
}
