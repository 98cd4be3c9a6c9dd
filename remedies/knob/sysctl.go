package knob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"snag/remedies/plan"
)

// sysctl sets a file below /proc/sys. Only those of the table Sysctls: their ranges
// are known, and a plan can't reach another file by its name.
type sysctl struct{}

func (sysctl) Valid(t plan.Target, value string) error {
	s, err := sysctlOf(t.Name)
	if err != nil {
		return err
	}
	if t.Netns != "" && !s.Netns {
		return fmt.Errorf("sysctl %s is one for the whole machine: it can't be set in network namespace %s", t.Name, t.Netns)
	}
	if err := validNetns(t); err != nil {
		return err
	}
	return s.valid(value)
}

func (sysctl) Read(h Host, t plan.Target) (value string, err error) {
	s, err := sysctlOf(t.Name)
	if err != nil {
		return "", err
	}
	err = h.inside(t, func() error {
		value, err = readFile(h.sysctlPath(s, t.Name))
		if err != nil || s.Other == "" || value != "0" {
			return err
		}
		other, err := readFile(h.sysctlPath(s, s.Other))
		if err == nil && (other != "0" || !s.zeroCounts()) {
			value = s.Other + "=" + other
		}
		return err
	})
	return value, err
}

func (sysctl) Write(h Host, t plan.Target, value string) error {
	s, err := sysctlOf(t.Name)
	if err != nil {
		return err
	}
	if err := s.valid(value); err != nil {
		return err
	}
	name := t.Name
	if other, ok := s.other(value); ok {
		name, value = s.Other, other
	}
	return h.inside(t, func() error { return writeFile(h.sysctlPath(s, name), value) })
}

// other reads "OTHER=number": the value while the sysctl that takes its place is in
// force.
func (s *Sysctl) other(value string) (string, bool) {
	if s.Other == "" {
		return "", false
	}
	return strings.CutPrefix(value, s.Other+"=")
}

// zeroCounts: of vm.dirty_ratio and vm.dirty_bytes that are both 0, the ratio is in
// force (mm/page-writeback.c, domain_dirty_limits).
func (s *Sysctl) zeroCounts() bool { return s.Min == 0 }

// Same compares by fields, which the kernel parts by tabs, and as it rounds.
func (sysctl) Same(t plan.Target, a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	if slices.Equal(x, y) {
		return true
	}
	s, err := sysctlOf(t.Name)
	if err != nil || s.Rounds == 0 || len(x) != 1 || len(y) != 1 {
		return false
	}
	m, err1 := strconv.ParseUint(x[0], 10, 62)
	n, err2 := strconv.ParseUint(y[0], 10, 62)
	return err1 == nil && err2 == nil && s.rounded(m) == s.rounded(n)
}

func (s *Sysctl) rounded(n uint64) uint64 {
	if s.Rounds < 0 {
		return RoundUp(n)
	}
	to := uint64(s.Rounds)
	return (n + to - 1) / to * to
}

// sysctlPath is the file of a sysctl of the table. The dots of an interface's name are
// its own, not folders.
func (h Host) sysctlPath(s *Sysctl, name string) string {
	before, after, ok := strings.Cut(s.Name, "*")
	path := func(part string) string { return strings.ReplaceAll(strings.Trim(part, "."), ".", "/") }
	if !ok {
		return filepath.Join(h.Proc, "sys", path(name))
	}
	return filepath.Join(h.Proc, "sys", path(before), name[len(before):len(name)-len(after)], path(after))
}

// sysctlOf finds a sysctl of the table by its name; an interface takes the place of *.
func sysctlOf(name string) (*Sysctl, error) {
	for i := range Sysctls {
		s := &Sysctls[i]
		if s.Name == name && !strings.Contains(name, "*") {
			return s, nil
		}
		before, after, ok := strings.Cut(s.Name, "*")
		if !ok || len(name) <= len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
			continue
		}
		device := name[len(before) : len(name)-len(after)]
		// dev_valid_name of net/core/dev.c.
		if len(device) > 15 || device == "." || device == ".." || strings.ContainsAny(device, "/: \t\n\x00*") {
			return nil, fmt.Errorf("sysctl %s: %q is not an interface", name, device)
		}
		return s, nil
	}
	return nil, fmt.Errorf("sysctl %s is not one that snag sets (snag tune knobs shows which it does)", name)
}

// valid reports whether the kernel would take a value: how many numbers, and each
// within its bounds. It refuses what the kernel would take and clamp in silence.
func (s *Sysctl) valid(value string) error {
	if number, ok := s.other(value); ok {
		o, err := sysctlOf(s.Other)
		if err != nil {
			return err
		}
		return (&Sysctl{Name: o.Name, Unit: o.Unit, Min: o.Min, Max: o.Max}).valid(number)
	}
	if len(s.Words) > 0 {
		for _, w := range s.Words {
			if value == w {
				return nil
			}
		}
		return fmt.Errorf("%s is one of %s, not %q", s.Name, strings.Join(s.Words, ", "), value)
	}
	fields := strings.Fields(value)
	if len(fields) != max(s.Fields, 1) {
		return fmt.Errorf("%s takes %d numbers, not %q", s.Name, max(s.Fields, 1), value)
	}
	before := int64(0)
	for i, f := range fields {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return fmt.Errorf("%s takes whole numbers, not %q", s.Name, f)
		}
		if n < s.Min || n > s.Max {
			return fmt.Errorf("%s is %d to %d (%s), not %d", s.Name, s.Min, s.Max, s.Unit, n)
		}
		if s.Rising && i > 0 && n < before {
			return fmt.Errorf("the numbers of %s rise, and %q does not", s.Name, value)
		}
		before = n
	}
	return nil
}

func readFile(path string) (string, error) {
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("read %s: %w", path, ErrAbsent)
	case err != nil:
		return "", fmt.Errorf("read %s: %w", path, errors.Unwrap(err))
	}
	return strings.TrimSpace(string(b)), nil
}

// writeFile writes a value in one write, as the kernel's settings want it, and never
// makes a file.
func writeFile(path, value string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0) // as a shell does: a copy of /proc in a folder needs it
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("set %s: %w", path, ErrAbsent)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EROFS):
		return fmt.Errorf("set %s: it can't be written: run as root, on the host itself (in a container /proc/sys is read-only)", path)
	case err != nil:
		return fmt.Errorf("set %s to %q: %w", path, value, errors.Unwrap(err))
	}
	_, err = f.WriteString(value)
	if c := f.Close(); err == nil {
		err = c
	}
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ERANGE):
		return fmt.Errorf("set %s to %q: this kernel does not take that value (%w)", path, value, errors.Unwrap(err))
	case errors.Is(err, unix.EBUSY):
		return fmt.Errorf("set %s to %q: it is in use: try again (%w)", path, value, errors.Unwrap(err))
	case err != nil:
		return fmt.Errorf("set %s to %q: %w", path, value, errors.Unwrap(err))
	}
	return nil
}
