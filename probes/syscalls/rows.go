package syscalls

import (
	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/recording"
	"snag/recording/calltable"
)

// add adds a row of the kernel's: failures and successes of a call make one.
func add(t calltable.Table, at recording.Time, anchor recording.Anchor, k *kernelCallKey, v *kernelCallValue) {
	row := recording.Call{
		T: at, PID: int(k.Pid), TID: int(k.Tid), Comm: kernel.Text(v.Comm[:]), Call: callName(k.Nr), FD: int(k.Fd),
		N: v.N, Sum: float64(v.Sum) / 1e9, Max: float64(v.Max) / 1e9,
	}
	if v.MaxAt != 0 {
		row.MaxAt = anchor.FromMonotonic(int64(v.MaxAt))
	}
	if k.Err != 0 {
		row.Errors = map[string]uint64{errnoName(k.Err): v.N}
	}
	if bytes, asked := moves(row.Call); bytes {
		done := v.Done
		row.Done = &done
		if asked {
			asked := v.Asked
			row.Asked = &asked
		}
	}
	for i, n := range v.Hist {
		if n > 0 {
			row.Hist = append(row.Hist, make([]uint64, i+1-len(row.Hist))...)
			row.Hist[i] = uint64(n)
		}
	}
	t.Add(&row)
}

// errnoName names an errno; one that has no name is a number.
func errnoName(err uint16) string {
	if name := unix.ErrnoName(unix.Errno(err)); name != "" {
		return name
	}
	if name, ok := kernelErrors[err]; ok {
		return name
	}
	return unix.Errno(err).Error()
}

// kernelErrors never reach a process: the call is made again, or a signal's handler
// runs first and it is EINTR (include/linux/errno.h). strace names them too.
var kernelErrors = map[uint16]string{
	512: "ERESTARTSYS", 513: "ERESTARTNOINTR", 514: "ERESTARTNOHAND", 515: "ENOIOCTLCMD", 516: "ERESTART_RESTARTBLOCK",
}
