package persist

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"snag/remedies/export"
	"snag/remedies/knob"
	"snag/remedies/plan"
)

// FactsOf reads of this host what a plan's files need besides the plan. What can't be
// read is left out: the files then say what they lack.
func FactsOf(h knob.Host, kinds map[string]knob.Knob, p *plan.Plan) export.Facts {
	f := export.Facts{Devices: map[string]export.Device{}, Routes: map[string]export.Route{}, Qdiscs: map[string]string{}, Units: map[int]string{}}
	for _, c := range p.Changes {
		t := c.Target
		switch t.Kind {
		case "route":
			if r, err := knob.WholeRoute(h, t); err == nil {
				f.Routes[t.String()] = routeOf(h, t, r)
			}
		case "qdisc":
			k, ok := kinds[t.Kind]
			if !ok {
				continue
			}
			whole, root := t, t
			whole.Name, root.Name, root.Parent, root.Queue = "", "", "root", nil
			for _, at := range []plan.Target{whole, root} {
				if v, err := k.Read(h, at); err == nil {
					f.Qdiscs[export.Place(at)] = v
				}
			}
		case "nofile":
			if u := unitOf(h.Proc, t.PID); u != "" {
				f.Units[t.PID] = u
			}
		}
		if t.Device != "" && t.Netns == "" {
			if d, err := deviceOf("/", t.Device); err == nil {
				f.Devices[t.Device] = d
			}
		}
	}
	return f
}

// routeOf writes a route as ip(8) and networkd name its parts.
func routeOf(h knob.Host, t plan.Target, r *netlink.Route) export.Route {
	out := export.Route{Metric: r.Priority, Metrics: map[string]string{}}
	if r.Gw != nil {
		out.Gateway = r.Gw.String()
	}
	if r.Src != nil {
		out.Source = r.Src.String()
	}
	if r.Scope != netlink.SCOPE_UNIVERSE {
		out.Scope = r.Scope.String()
	}
	switch r.Protocol { // include/uapi/linux/rtnetlink.h
	case unix.RTPROT_BOOT:
		out.Protocol = "boot"
	default:
		out.Protocol = r.Protocol.String()
	}
	_ = h.In(t.Netns, func() error {
		l, err := netlink.LinkByIndex(r.LinkIndex)
		if err == nil {
			out.Device = l.Attrs().Name
		}
		return err
	})
	for name, n := range map[string]int{"quickack": r.QuickACK, "advmss": r.AdvMSS, "mtu": r.MTU, "initcwnd": r.InitCwnd, "initrwnd": r.InitRwnd, "rto_min": r.RtoMin} {
		if n != 0 {
			out.Metrics[name] = strconv.Itoa(n)
		}
	}
	return out
}

// unitOf is the service of a process: the last part of its control group that is one
// (cgroups(7), /proc/PID/cgroup).
func unitOf(proc string, pid int) string {
	b, err := readSome(filepath.Join(proc, strconv.Itoa(pid), "cgroup"))
	if err != nil {
		return ""
	}
	for l := range strings.Lines(b) {
		parts := strings.Split(strings.TrimSpace(l), "/")
		for _, p := range slices.Backward(parts) {
			if strings.HasSuffix(p, ".service") && !strings.HasPrefix(p, "user@") {
				return p
			}
		}
	}
	return ""
}

// deviceOf reads what udev and networkd hold of an interface.
func deviceOf(root, name string) (d export.Device, err error) {
	l, err := netlink.LinkByName(name)
	if err != nil {
		return d, fmt.Errorf("find interface %s: %w", name, err)
	}
	if mac := l.Attrs().PermHWAddr; len(mac) > 0 && strings.Trim(mac.String(), "0:") != "" {
		d.PermanentMAC = mac.String()
	}
	i := strconv.Itoa(l.Attrs().Index)
	if text, err := readSome(filepath.Join(root, "run/udev/data/n"+i)); err == nil {
		d.Link = linkLines(root, text)
	}
	if text, err := readSome(filepath.Join(root, "run/systemd/netif/links", i)); err == nil {
		d.Network = path.Base(valueOf(text, "NETWORK_FILE="))
		if d.Network == "." {
			d.Network = ""
		}
	}
	return d, nil
}

// linkLines are the lines of [Link] in the .link file that udev took for an interface,
// and in its drop-ins (since systemd 250 both are in udev's data).
func linkLines(root, udev string) (all []string) {
	files := []string{valueOf(udev, "E:ID_NET_LINK_FILE=")}
	files = append(files, strings.FieldsFunc(valueOf(udev, "E:ID_NET_LINK_FILE_DROPINS="), func(r rune) bool { return r == ':' || r == ' ' })...)
	for _, file := range files {
		if file == "" {
			continue
		}
		text, err := readSome(filepath.Join(root, file))
		if err != nil {
			continue
		}
		in := false
		for l := range strings.Lines(text) {
			l = strings.TrimSpace(l)
			switch {
			case strings.HasPrefix(l, "["):
				in = l == "[Link]"
			case in && l != "" && l[0] != '#' && l[0] != ';':
				all = append(all, l)
			}
		}
	}
	return all
}

func valueOf(text, key string) string {
	for l := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(l), key); ok {
			return v
		}
	}
	return ""
}

// readSome reads a small file of the system's.
func readSome(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(b) > maxFile {
		return "", errors.New("it is too large")
	}
	return string(b), err
}
