package conflict

import (
	"fmt"
	"strconv"
	"strings"

	"snag/recording"
)

// FactsOf is what a recording tells of its host; Files it does not tell.
func FactsOf(r *recording.Recording) Facts {
	f := Facts{CPUs: r.Manifest.CPUs, Devices: map[string]Device{}}
	_, _ = fmt.Sscanf(r.Manifest.Kernel, "%d.%d", &f.Kernel[0], &f.Kernel[1])
	f.Congestion, _ = r.FactOf("net.ipv4.tcp_congestion_control", 0)
	own := func(id uint64) bool { return id == 0 || id == r.Manifest.Netns }
	for _, n := range r.NICs {
		if own(n.Netns) && n.Driver != "" {
			d := f.Devices[n.Device]
			d.Driver = n.Driver
			f.Devices[n.Device] = d
		}
	}
	for _, q := range r.Queues {
		if d := f.Devices[q.Device]; own(q.Netns) && q.Dir == "rx" && q.Index >= d.RxQueues {
			d.RxQueues = q.Index + 1
			f.Devices[q.Device] = d
		}
	}
	mq := map[string]string{} // the major of a device's mq
	for _, q := range r.Qdiscs {
		if own(q.Netns) && q.Kind == "mq" {
			mq[q.Device], _, _ = strings.Cut(q.Handle, ":")
		}
	}
	for _, q := range r.Qdiscs {
		major, ok := mq[q.Device]
		parent, _, isClass := strings.Cut(q.Parent, ":")
		if own(q.Netns) && ok && isClass && strings.TrimLeft(parent, "0") == strings.TrimLeft(major, "0") {
			d := f.Devices[q.Device]
			d.Children = appendNew(d.Children, q.Parent)
			f.Devices[q.Device] = d
		}
	}
	f.Fixed = fixedBuffers(r)
	return f
}

func appendNew(all []string, one string) []string {
	for _, s := range all {
		if s == one {
			return all
		}
	}
	return append(all, one)
}

// fixedBuffers are TCP sockets that received ten times their buffer while it stood still
// below what the kernel would let it grow to, and not where it begins: their program
// set SO_RCVBUF (net/ipv4/tcp_input.c, tcp_rcv_space_adjust leaves those alone).
func fixedBuffers(r *recording.Recording) (out []Fixed) {
	type seen struct {
		rcvbuf int
		first  uint64
		moved  bool
		last   recording.Socket
	}
	by := map[string]*seen{}
	var order []string
	for _, s := range r.Sockets {
		if s.Proto != "tcp" || s.TCP == nil || s.RcvBuf == 0 || s.Wire || len(s.Owners) == 0 {
			continue
		}
		key := strconv.FormatUint(s.Netns, 10) + " " + s.Local + " " + s.Remote
		if by[key] == nil {
			by[key] = &seen{rcvbuf: s.RcvBuf, first: s.TCP.BytesReceived}
			order = append(order, key)
		}
		k := by[key]
		k.moved = k.moved || s.RcvBuf != k.rcvbuf
		k.last = s
	}
	for _, key := range order {
		k := by[key]
		text, ok := r.FactOf("net.ipv4.tcp_rmem", k.last.Netns)
		if !ok {
			text, _ = r.FactOf("net.ipv4.tcp_rmem", 0)
		}
		var least, begins, most int
		if n, _ := fmt.Sscan(text, &least, &begins, &most); n != 3 || k.moved || k.rcvbuf == begins || float64(k.rcvbuf) >= 0.99*float64(most) {
			continue
		}
		if got := k.last.TCP.BytesReceived - k.first; k.last.TCP.BytesReceived > k.first && got >= 10*uint64(k.rcvbuf) {
			out = append(out, Fixed{Who: fmt.Sprintf("%s[%d]", k.last.Owners[0].Comm, k.last.Owners[0].PID), Bytes: k.rcvbuf})
		}
	}
	return out
}
