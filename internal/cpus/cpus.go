// Package cpus reads and writes sets of CPUs in the kernel's two forms: the mask,
// hex groups of 8 digits with commas between them ("00000001,80000003"), and the
// list ("0-3,8") (kernel lib/bitmap-str.c).
package cpus

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// most CPUs that a set may name: a kernel has 8,192 (x86 MAXSMP) at most.
const most = 1 << 14

// ParseMask reads a mask. A 0x in front is refused, as the kernel refuses it.
func ParseMask(text string) ([]int, error) {
	text = strings.TrimSpace(text)
	groups := strings.Split(text, ",")
	if len(groups)*32 > most {
		return nil, fmt.Errorf("read the mask of CPUs %.40q: it has %d groups", text, len(groups))
	}
	var out []int
	for i := len(groups) - 1; i >= 0; i-- {
		g := groups[i]
		v, err := strconv.ParseUint(g, 16, 32)
		if err != nil || len(g) > 8 || strings.HasPrefix(g, "+") {
			return nil, fmt.Errorf("read the mask of CPUs %.40q: group %.12q is not 1 to 8 hex digits", text, g)
		}
		base := 32 * (len(groups) - 1 - i)
		for bit := range 32 {
			if v&(1<<bit) != 0 {
				out = append(out, base+bit)
			}
		}
	}
	return out, nil
}

// ParseList reads a list; "" and "\n" are the empty set.
func ParseList(text string) ([]int, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	var out []int
	for _, part := range strings.Split(text, ",") {
		from, to, ranged := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		b := a
		if err == nil && ranged {
			b, err = strconv.Atoi(to)
		}
		if err != nil || a < 0 || b < a || b >= most {
			return nil, fmt.Errorf("read the list of CPUs %.40q: %.12q is neither a number nor a range", text, part)
		}
		for c := a; c <= b; c++ {
			out = append(out, c)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Mask writes a set as the kernel takes it on a host with that many CPUs: groups
// of 8 hex digits with commas where it has more than 32, else no more digits than
// are needed. CPUs beyond the host's are left out: the kernel answers EOVERFLOW.
func Mask(set []int, hostCPUs int) string {
	groups := make([]uint32, max(1, (hostCPUs+31)/32))
	for _, c := range set {
		if c >= 0 && c < hostCPUs {
			groups[c/32] |= 1 << (c % 32)
		}
	}
	if len(groups) == 1 {
		return strconv.FormatUint(uint64(groups[0]), 16)
	}
	var b strings.Builder
	for i := len(groups) - 1; i >= 0; i-- {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%08x", groups[i])
	}
	return b.String()
}

// List writes a set as "0-3,8".
func List(set []int) string {
	set = slices.Compact(slices.Sorted(slices.Values(set)))
	var b strings.Builder
	for i := 0; i < len(set); {
		j := i
		for j+1 < len(set) && set[j+1] == set[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(set[i]))
		if j > i {
			b.WriteString("-" + strconv.Itoa(set[j]))
		}
		i = j + 1
	}
	return b.String()
}
