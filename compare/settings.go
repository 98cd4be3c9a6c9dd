package compare

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"snag/internal/sorting"
	"snag/recording"
)

// Setting is what is set, or which build it is; "" where the recording does not have it.
type Setting struct{ Name, A, B string }

// CPUFlags is the setting that lists the instructions and features of the CPU. Its A are those that only A's has, its
// B those that only B's has.
const CPUFlags = "cpu.flags"

// settings are those that both recordings read and that differ.
func settings(a, b *recording.Recording) []Setting {
	return differing(set(a), set(b), false)
}

// differing are the names with two values; with one-sided ones only where asked for.
func differing(a, b map[string]string, oneSided bool) (out []Setting) {
	for name, was := range a {
		now, ok := b[name]
		if name == CPUFlags {
			was, now = only(was, now), only(now, was)
		}
		if (ok || oneSided) && now != was {
			out = append(out, Setting{name, was, now})
		}
	}
	for name, now := range b {
		if _, ok := a[name]; !ok && oneSided {
			out = append(out, Setting{name, "", now})
		}
	}
	sorting.By(out, func(x, y Setting) int { return strings.Compare(x.Name, y.Name) })
	return out
}

// only are the words of a text that another does not have.
func only(text, other string) string {
	has := strings.Fields(other)
	return strings.Join(slices.DeleteFunc(strings.Fields(text), func(word string) bool { return slices.Contains(has, word) }), " ")
}

// set is how a host is set, by name; of each namespace that has a name, and of the host's.
func set(r *recording.Recording) map[string]string {
	own, names := ownNetns(r)
	in := func(id uint64) (suffix string, ok bool) {
		if id == 0 || id == own {
			return "", true
		}
		name, ok := names[id]
		return " in netns " + name, ok
	}
	out := map[string]string{}
	for _, f := range r.Facts {
		if suffix, ok := in(f.Netns); ok && !strings.HasPrefix(f.Name, "snag.") {
			out[f.Name+suffix] = f.Value
		}
	}
	for _, q := range r.Qdiscs {
		if suffix, ok := in(q.Netns); ok {
			out[fmt.Sprintf("qdisc of %s (%s)%s", q.Device, q.Parent, suffix)] = strings.TrimSpace(q.Kind + " " + options(q.Options))
		}
	}
	for _, l := range r.Links {
		if suffix, ok := in(l.Netns); ok {
			out[fmt.Sprintf("interface %s%s", l.Name, suffix)] = fmt.Sprintf("mtu %d, up %t", l.MTU, l.Up)
		}
	}
	for _, n := range r.NICs {
		suffix, ok := in(n.Netns)
		if !ok {
			continue
		}
		n.T, n.Netns = 0, 0
		if text, err := json.Marshal(n); err == nil {
			out["ethtool "+n.Device+suffix] = string(text)
		}
	}
	return out
}

func ownNetns(r *recording.Recording) (own uint64, names map[uint64]string) {
	names = map[uint64]string{}
	for _, n := range r.Netns {
		if n.Own {
			own = n.ID
		}
		if n.Name != "" {
			names[n.ID] = n.Name
		}
	}
	return own, names
}

func options(o map[string]string) string {
	var all []string
	for k, v := range o {
		all = append(all, k+" "+v)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// builds are the programs and libraries that are other files, of programs that run in both.
func builds(a, b *recording.Recording) []Setting {
	ba, bb := buildsOf(a), buildsOf(b)
	var out []Setting
	for comm, files := range bb {
		if was, ok := ba[comm]; ok {
			for _, s := range differing(was, files, true) {
				s.Name = comm + ": " + s.Name
				out = append(out, s)
			}
		}
	}
	sorting.By(out, func(x, y Setting) int { return strings.Compare(x.Name, y.Name) })
	return out
}

// buildsOf are the files that a program has mapped, without the version in their names: libc.so.6.
func buildsOf(r *recording.Recording) map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, l := range r.Libraries {
		if l.PID == r.Manifest.SelfPID {
			continue
		}
		if out[l.Comm] == nil {
			out[l.Comm] = map[string]string{}
		}
		id := l.BuildID
		if id == "" {
			id = fmt.Sprintf("%d bytes", l.Size)
		}
		out[l.Comm][path.Base(l.Path)] = id
	}
	return out
}
