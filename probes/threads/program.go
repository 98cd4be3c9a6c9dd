package threads

import (
	"bytes"
	"os"
	"strconv"
)

// IsKernelThread reads PF_KTHREAD (include/linux/sched.h) out of the flags in
// /proc/PID/stat, field 9 (proc_pid_stat(5)).
func IsKernelThread(stat []byte) bool {
	const kthread = 0x00200000
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // from field 3 on
	if len(fields) < 7 {
		return false
	}
	flags, err := strconv.ParseUint(string(fields[6]), 10, 32)
	return err == nil && flags&kthread != 0
}

// isCompat reports whether a program is one of 32 bits, by its file's head (elf(5),
// e_ident[EI_CLASS]).
func isCompat(exe string) bool {
	f, err := os.Open(exe)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [5]byte
	n, err := f.Read(head[:])
	return err == nil && n == len(head) && bytes.HasPrefix(head[:], []byte("\x7fELF")) && head[4] == 1
}
