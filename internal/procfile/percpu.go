package procfile

import (
	"bytes"
	"fmt"
	"strconv"
)

// PerCPU is one line of /proc/interrupts or /proc/softirqs.
type PerCPU struct {
	Kind   string // "38", "LOC", "NET_RX"
	Values []uint64
	Rest   []byte // what stands behind the numbers
}

// EachCPU reads such a file: a head that names the CPUs that are online, then
// a line for each kind (kernel fs/proc/softirqs.c, kernel/irq/proc.c). values are
// good until each returns. Lines that are not for each CPU (ERR:, MIS:) are passed
// over.
func EachCPU(data []byte, each func(cpus []int, l PerCPU)) error {
	head, data := cut(data, '\n')
	var cpus []int
	for _, f := range bytes.Fields(head) {
		n, ok := bytes.CutPrefix(f, []byte("CPU"))
		id, err := strconv.Atoi(string(n))
		if !ok || err != nil || id < 0 {
			return fmt.Errorf("the head names %.20q where a CPU should be", f)
		}
		cpus = append(cpus, id)
	}
	if len(cpus) == 0 {
		return fmt.Errorf("the head names no CPU")
	}
	values := make([]uint64, len(cpus))
	for len(data) > 0 {
		var line []byte
		line, data = cut(data, '\n')
		kind, rest := cut(line, ':')
		l := PerCPU{Kind: string(bytes.TrimSpace(kind)), Values: values[:0], Rest: rest}
		for len(l.Values) < len(cpus) {
			n, after, ok := number(l.Rest)
			if !ok {
				break
			}
			l.Values, l.Rest = append(l.Values, n), after
		}
		if len(l.Values) == len(cpus) && l.Kind != "" {
			each(cpus, l)
		}
	}
	return nil
}

// cut is bytes.Cut at one byte, without the bool.
func cut(b []byte, sep byte) (before, after []byte) {
	if i := bytes.IndexByte(b, sep); i >= 0 {
		return b[:i], b[i+1:]
	}
	return b, nil
}

// number reads the next word as a number; false leaves b as it is.
func number(b []byte) (n uint64, rest []byte, ok bool) {
	i := 0
	for i < len(b) && b[i] == ' ' {
		i++
	}
	from := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		n = n*10 + uint64(b[i]-'0')
		i++
	}
	if i == from || i-from > 20 || i < len(b) && b[i] != ' ' {
		return 0, b, false
	}
	return n, b[i:], true
}

// Actions splits what stands behind the counts of an interrupt as node_exporter's
// labels do: of a numbered one the chip is info, the rest are devices; of the
// others all is devices. The last word is the name of its (last) action.
func Actions(kind string, rest []byte) (info, devices, last string) {
	words := bytes.Fields(rest)
	if len(words) > 0 && kind[0] >= '0' && kind[0] <= '9' {
		info = string(words[0])
		words = words[1:]
	}
	if len(words) > 0 {
		last = string(words[len(words)-1])
	}
	return info, string(bytes.Join(words, []byte(" "))), last
}
