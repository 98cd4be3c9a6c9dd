package knob

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"snag/remedies/plan"
)

// hugePages sets a file below /sys/kernel/mm/transparent_hugepage
// (Documentation/admin-guide/mm/transhuge.rst).
type hugePages struct{}

// thpFile is one of them: a choice of words, or a number.
type thpFile struct {
	Doc
	words       []string
	least, most int64
}

const thpSource = "Documentation/admin-guide/mm/transhuge.rst; "

var thpFiles = []thpFile{
	{Doc{"enabled", "who gets huge pages without asking", "word", "always, madvise (only who asks), never", "2.6.38",
		"never or madvise: stalls while memory is compacted, memory that grows beyond what is used (Redis, MongoDB, jemalloc)", "programs with large heaps run slower with small pages (TLB misses)", thpSource + "mm/huge_memory.c"},
		[]string{"always", "madvise", "never"}, 0, 0},
	{Doc{"defrag", "whether a page fault waits while memory is compacted for a huge page", "word", "always, defer, defer+madvise, madvise, never", "2.6.38 (defer 4.6, defer+madvise 4.11)",
		"defer or madvise: compact_stall in the path of requests", "fewer huge pages", thpSource + "mm/huge_memory.c"},
		[]string{"always", "defer", "defer+madvise", "madvise", "never"}, 0, 0},
	{Doc{"shmem_enabled", "the same for shared memory and tmpfs", "word", "always, within_size, advise, never, deny, force", "4.8",
		"advise: databases that ask for it in shared memory", "as enabled", thpSource + "mm/shmem.c"},
		[]string{"always", "within_size", "advise", "never", "deny", "force"}, 0, 0},
	{Doc{"khugepaged/defrag", "whether khugepaged compacts memory", "0 or 1", "0 or 1", "2.6.38",
		"0: CPU time of khugepaged", "fewer huge pages", thpSource + "mm/khugepaged.c"}, nil, 0, 1},
	{Doc{"khugepaged/scan_sleep_millisecs", "how long khugepaged sleeps between two rounds", "ms", "0 to 4294967295", "2.6.38",
		"longer: CPU time of khugepaged, stalls on mmap_lock", "memory becomes huge pages later", thpSource + "mm/khugepaged.c"}, nil, 0, maxUint32},
	{Doc{"khugepaged/pages_to_scan", "pages that one round looks at", "pages", "1 to 4294967295", "2.6.38",
		"fewer: shorter rounds", "memory becomes huge pages later", thpSource + "mm/khugepaged.c"}, nil, 1, maxUint32},
	{Doc{"khugepaged/max_ptes_none", "pages of a huge one that may be empty when khugepaged makes it", "pages", "0 to 511 with pages of 4 KiB and 2 MiB", "2.6.38",
		"0: memory that grows beyond what is used", "fewer huge pages", thpSource + "mm/khugepaged.c"}, nil, 0, 511},
}

func thpFileOf(name string) (*thpFile, bool) {
	for i := range thpFiles {
		if thpFiles[i].Name == name {
			return &thpFiles[i], true
		}
	}
	return nil, false
}

func (hugePages) Valid(t plan.Target, value string) error {
	f, ok := thpFileOf(t.Name)
	switch {
	case !ok:
		return fmt.Errorf("%q is not a setting of transparent huge pages that snag sets", t.Name)
	case f.words == nil:
		return whole("thp "+f.Name, value, f.least, f.most)
	case !slices.Contains(f.words, value):
		return fmt.Errorf("thp %s is one of %s, not %q", f.Name, strings.Join(f.words, ", "), value)
	}
	return nil
}

func (hugePages) path(h Host, t plan.Target) string {
	return filepath.Join(h.Sys, "kernel/mm/transparent_hugepage", t.Name)
}

func (k hugePages) Read(h Host, t plan.Target) (string, error) {
	if _, ok := thpFileOf(t.Name); !ok {
		return "", fmt.Errorf("read %s: %w", t, ErrAbsent)
	}
	text, err := readFile(k.path(h, t))
	return Chosen(text), err
}

// Chosen is the word in brackets, as "always [madvise] never" has it.
func Chosen(text string) string {
	if _, rest, ok := strings.Cut(text, "["); ok {
		if word, _, ok := strings.Cut(rest, "]"); ok {
			return word
		}
	}
	return text
}

func (k hugePages) Write(h Host, t plan.Target, value string) error {
	if err := k.Valid(t, value); err != nil {
		return err
	}
	return writeFile(k.path(h, t), value)
}

func (hugePages) Same(_ plan.Target, a, b string) bool { return a == b }
