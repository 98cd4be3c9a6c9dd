package knob

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// unset is the value of a property that nobody set: systemd's own default.
const unset = "unset"

// infinity is no limit, as systemd writes it: the largest number.
const infinity = "infinity"

// parseNumber reads a count, or infinity.
func parseNumber(word string, least, most uint64) (uint64, error) {
	if word == infinity {
		return math.MaxUint64, nil
	}
	n, err := strconv.ParseUint(word, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("a whole number from %d to %d, or infinity, not %q", least, most, word)
	}
	return n, nil
}

func numberWord(n uint64) string {
	if n == math.MaxUint64 {
		return infinity
	}
	return strconv.FormatUint(n, 10)
}

// parsePercent reads CPUQuota=, "150%", as µs of CPU time in a second.
func parsePercent(word string) (uint64, error) {
	if word == infinity {
		return math.MaxUint64, nil
	}
	digits, ok := strings.CutSuffix(word, "%")
	n, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || strings.Trim(digits, "0123456789.") != "" || n < 0.1 || n > 819200 {
		return 0, fmt.Errorf("a share of CPUs from 0.1%% to 819200%%, or infinity, not %q", word)
	}
	return uint64(math.Round(n * 10000)), nil
}

func percentWord(µs uint64) string {
	if µs == math.MaxUint64 {
		return infinity
	}
	return strconv.FormatFloat(float64(µs)/10000, 'f', -1, 64) + "%"
}

// parseSet reads a set of CPUs or of NUMA nodes, "0-3,8", as systemd sends it: a bit
// each, the lowest byte first (shared/cpu-set-util.c, cpu_set_to_dbus).
func parseSet(word string) ([]byte, error) {
	if word == unset {
		return []byte{}, nil
	}
	var set []byte
	for _, part := range strings.Split(word, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, err1 := strconv.ParseUint(first, 10, 16)
		b, err2 := strconv.ParseUint(last, 10, 16)
		if err1 != nil || err2 != nil || a > b || b >= maxCPUs {
			return nil, fmt.Errorf("a set as 0-3,8, each below %d, or unset, not %q", maxCPUs, word)
		}
		for n := a; n <= b; n++ {
			for len(set) <= int(n/8) {
				set = append(set, 0)
			}
			set[n/8] |= 1 << (n % 8)
		}
	}
	return set, nil
}

func setWord(set []byte) string {
	var parts []string
	has := func(n int) bool { return n/8 < len(set) && set[n/8]>>(n%8)&1 == 1 }
	for n := 0; n < 8*len(set); n++ {
		if !has(n) {
			continue
		}
		first := n
		for has(n + 1) {
			n++
		}
		if first == n {
			parts = append(parts, strconv.Itoa(n))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", first, n))
		}
	}
	if parts == nil {
		return unset
	}
	return strings.Join(parts, ",")
}

// numaPolicies are the kernel's numbers (uapi/linux/mempolicy.h), as systemd sends them.
var numaPolicies = []string{"default", "preferred", "bind", "interleave", "local"}

func parsePolicy(word string) (int32, error) {
	if word == unset {
		return -1, nil
	}
	if i := slices.Index(numaPolicies, word); i >= 0 {
		return int32(i), nil
	}
	return 0, fmt.Errorf("one of %s or unset, not %q", strings.Join(numaPolicies, ", "), word)
}

func policyWord(n int32) string {
	if n < 0 || int(n) >= len(numaPolicies) {
		return unset
	}
	return numaPolicies[n]
}

// parseLimits reads a resource limit of a unit, SOFT:HARD or one number for both.
func parseLimits(word string) (soft, hard uint64, err error) {
	a, b, both := strings.Cut(word, ":")
	if !both {
		b = a
	}
	if soft, err = parseNumber(a, 0, 1<<62); err == nil {
		hard, err = parseNumber(b, 0, 1<<62)
	}
	if err == nil && soft > hard {
		err = fmt.Errorf("a soft limit no higher than the hard one, not %q", word)
	}
	return soft, hard, err
}

func limitsWord(soft, hard uint64) string { return numberWord(soft) + ":" + numberWord(hard) }
