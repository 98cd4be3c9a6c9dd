package knob

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"path/filepath"
	"strconv"
	"strings"

	"snag/remedies/plan"
)

// queueMask is which CPUs serve a queue of an interface, below /sys/class/net.
type queueMask struct {
	file  string
	rx    bool
	about string
}

func queuePath(sys string, t plan.Target, rx bool, file string) string {
	side := "tx-"
	if rx {
		side = "rx-"
	}
	return filepath.Join(sys, "class/net", t.Device, "queues", side+strconv.Itoa(*t.Queue), file)
}

func onQueue(t plan.Target) error {
	switch {
	case t.Device == "":
		return fmt.Errorf("%s needs a device", t.Kind)
	case t.Queue == nil:
		return fmt.Errorf("%s needs a queue", t.Kind)
	case *t.Queue < 0 || *t.Queue > 4095:
		return fmt.Errorf("%s is not a queue", t)
	}
	return validNetns(t)
}

// maxCPUs is what a mask may name (CONFIG_NR_CPUS of the largest kernels).
const maxCPUs = 8192

func (q queueMask) Valid(t plan.Target, value string) error {
	if err := onQueue(t); err != nil {
		return err
	}
	if _, err := parseMask(value); err != nil {
		return fmt.Errorf("%s: %w", q.about, err)
	}
	return nil
}

func (q queueMask) Read(h Host, t plan.Target) (string, error) {
	return h.readQueue(t, q.rx, q.file)
}

func (q queueMask) Write(h Host, t plan.Target, v string) error {
	return h.writeQueue(t, q.rx, q.file, v)
}

func (h Host) readQueue(t plan.Target, rx bool, file string) (value string, err error) {
	err = h.insideSys(t, func(sys string) error {
		value, err = readFile(queuePath(sys, t, rx, file))
		return err
	})
	return value, noQueue(t, err)
}

func (h Host) writeQueue(t plan.Target, rx bool, file, value string) error {
	return noQueue(t, h.insideSys(t, func(sys string) error { return writeFile(queuePath(sys, t, rx, file), value) }))
}

// noQueue says what the path of another namespace's /sys would not.
func noQueue(t plan.Target, err error) error {
	if errors.Is(err, ErrAbsent) {
		return fmt.Errorf("find %s: the interface or its queue is gone, or has another name (%w)", t, ErrAbsent)
	}
	return err
}

// Same compares the CPUs: 3 and 00000003 are one.
func (q queueMask) Same(_ plan.Target, a, b string) bool {
	x, err1 := parseMask(a)
	y, err2 := parseMask(b)
	return err1 == nil && err2 == nil && x.Cmp(y) == 0
}

// parseMask reads a mask of CPUs as the kernel takes it (lib/bitmap-str.c,
// bitmap_parse): groups of up to eight hexadecimal digits, parted by commas. 0x is
// EINVAL there.
func parseMask(text string) (*big.Int, error) {
	all := ""
	for i, group := range strings.Split(strings.TrimSpace(text), ",") {
		if group == "" || len(group) > 8 || strings.Trim(group, "0123456789abcdefABCDEF") != "" {
			return nil, fmt.Errorf("%q is not a CPU mask: hexadecimal digits in groups of eight, parted by commas, as ff or 1,00000000", text)
		}
		if i > 0 {
			group = strings.Repeat("0", 8-len(group)) + group
		}
		all += group
	}
	n, ok := new(big.Int).SetString(all, 16)
	if !ok || n.BitLen() > maxCPUs {
		return nil, fmt.Errorf("%q names a CPU above %d", text, maxCPUs)
	}
	return n, nil
}

// Mask writes CPUs as the kernel wants them.
func Mask(cpus []int) string {
	n := new(big.Int)
	for _, c := range cpus {
		n.SetBit(n, c, 1)
	}
	hex := n.Text(16)
	var groups []string
	for len(hex) > 8 {
		groups = append([]string{hex[len(hex)-8:]}, groups...)
		hex = hex[:len(hex)-8]
	}
	return strings.Join(append([]string{hex}, groups...), ",")
}

// flowCount is how many flows a queue remembers the CPU of (RFS).
type flowCount struct{}

func (flowCount) Valid(t plan.Target, value string) error {
	if err := onQueue(t); err != nil {
		return err
	}
	return whole("rps_flow_cnt", value, 0, 1<<29)
}

func (flowCount) Read(h Host, t plan.Target) (string, error) {
	return h.readQueue(t, true, "rps_flow_cnt")
}

func (flowCount) Write(h Host, t plan.Target, v string) error {
	return h.writeQueue(t, true, "rps_flow_cnt", v)
}

// Same: the kernel rounds up to a power of two (net/core/net-sysfs.c).
func (flowCount) Same(_ plan.Target, a, b string) bool {
	x, err1 := strconv.ParseUint(a, 10, 32)
	y, err2 := strconv.ParseUint(b, 10, 32)
	return err1 == nil && err2 == nil && RoundUp(x) == RoundUp(y)
}

// RoundUp is the next power of two; 0 stays.
func RoundUp(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	return 1 << bits.Len64(n-1)
}

// whole reports whether a text is a whole number within bounds.
func whole(name, value string, least, most int64) error {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < least || n > most {
		return fmt.Errorf("%s is a whole number from %d to %d, not %q", name, least, most, value)
	}
	return nil
}
