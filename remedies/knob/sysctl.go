package knob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"snag/remedies/plan"
)

// sysctl sets a file below /proc/sys. Only those of the table Sysctls: their ranges
// are known, and a plan can't reach another file by its name.
type sysctl struct{}

func (sysctl) Valid(t plan.Target, value string) error {
	s, ok := sysctlOf(t.Name)
	if !ok {
		return fmt.Errorf("sysctl %s is not one that snag sets", t.Name)
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
	err = h.inside(t, func() error {
		value, err = readFile(h.sysctlPath(t.Name))
		return err
	})
	return value, err
}

func (sysctl) Write(h Host, t plan.Target, value string) error {
	return h.inside(t, func() error { return writeFile(h.sysctlPath(t.Name), value) })
}

// Same compares by fields: the kernel parts them by tabs.
func (sysctl) Same(_ plan.Target, a, b string) bool {
	return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}

// sysctlPath is the file of a sysctl that the table has; a dot in an interface's
// name would be a slash, as sysctl(8) has it.
func (h Host) sysctlPath(name string) string {
	return filepath.Join(h.Proc, "sys", strings.ReplaceAll(name, ".", "/"))
}

// valid tells whether the kernel would take a value: how many numbers, and each
// within its bounds. It refuses what the kernel would take and clamp in silence.
func (s *Sysctl) valid(value string) error {
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
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("set %s: it may not be written: run as root, on the host itself (in a container /proc/sys is read-only)", path)
	case err != nil:
		return fmt.Errorf("set %s to %q: %w", path, value, errors.Unwrap(err))
	}
	_, err = f.WriteString(value)
	if c := f.Close(); err == nil {
		err = c
	}
	if err != nil {
		return fmt.Errorf("set %s to %q: %w", path, value, errors.Unwrap(err))
	}
	return nil
}
