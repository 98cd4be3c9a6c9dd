package threads

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// reader reads the files of threads, and remembers what it was refused.
type reader struct {
	proc string
	buf  [8192]byte
	// accounted reports that the kernel accounts waiting for disks: otherwise 0 may
	// mean either.
	accounted bool
	// How often each file gave nothing, and why the first time.
	state, syscall, wchan, sched refusals
	// Threads of this look and of the one before, by id.
	seen, before map[int]seen
}

// seen is a thread as it was last seen.
type seen struct {
	row     recording.Thread
	sched   schedstat
	refused error // of the call
}

// next begins a new look at all threads.
func (r *reader) next() { r.before, r.seen = r.seen, map[int]seen{} }

// refusals of one kind of file.
type refusals struct {
	n, of uint64 // refused, of so many tries
	first error
}

func (r *refusals) note(err error) {
	r.of++
	if err == nil || gone(err) {
		return
	}
	r.n++
	if r.first == nil {
		r.first = err
	}
}

// gone reports that a thread ended while it was looked at, which is no failure.
// Its own files are missing then; one that the kernel was built without is told
// apart by absent.
func gone(err error) bool { return errors.Is(err, unix.ESRCH) || errors.Is(err, fs.ErrNotExist) }

// errAbsent is a file that this kernel has for no thread.
var errAbsent = errors.New("this kernel has no such file")

// file reads a file in one go; what is beyond the buffer is left out. The bytes
// hold until the next call.
func (r *reader) file(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, r.buf[:])
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return r.buf[:n], nil
}

// optional reads a file that some kernels are built without.
func (r *reader) optional(dir, name string) ([]byte, error) {
	b, err := r.file(dir + name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, own := os.Stat(r.proc + "/self/" + name); errors.Is(own, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s%s: %w", dir, name, errAbsent)
		}
	}
	return b, err
}

// tids lists the threads of a process, the first one first: most of them, and
// how many there are.
func (r *reader) tids(pid, most int) (tids []int, all int, err error) {
	f, err := os.Open(r.proc + "/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, 0, err
	}
	for _, n := range names {
		tid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		if all++; len(tids) < most {
			tids = append(tids, tid)
		}
	}
	return tids, all, nil
}

// thread reads one thread; false when it has ended, or nothing of it can be read.
//
// A thread that sleeps, and was on no CPU since the last look, is where it was:
// its call, its place and its switches are not read again. Most threads of a
// server are such, and cost a third.
func (r *reader) thread(pid, tid int) (recording.Thread, bool) {
	row := recording.Thread{PID: pid, TID: tid, FD: -1}
	dir := r.proc + "/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(tid) + "/"
	kernelThread := false // one of the kernel's own, in no call ever
	b, err := r.file(dir + "stat")
	if err == nil {
		kernelThread = IsKernelThread(b)
		row.Comm, row.State, err = ParseStat(b)
		if delay, ok := parseIODelay(b); ok && (delay > 0 || r.accounted) {
			row.IODelay = &delay
		}
	}
	r.state.note(err)
	if err != nil {
		return row, false
	}
	var sched schedstat
	b, schedErr := r.optional(dir, "schedstat")
	if schedErr == nil {
		sched, schedErr = parseSchedstat(b)
	}
	row.OnCPU, row.RunDelay = sched.onCPU, sched.delay

	old, known := r.before[tid]
	if known && schedErr == nil && old.sched == sched && old.row.PID == pid && old.row.State == row.State && row.State != "R" {
		row.Wchan, row.Syscall, row.FD = old.row.Wchan, old.row.Syscall, old.row.FD
		row.Futex, row.Lock = old.row.Futex, old.row.Lock
		row.Voluntary, row.Involuntary = old.row.Voluntary, old.row.Involuntary
		r.syscall.note(old.refused)
	} else if kernelThread {
		row.Syscall, old.refused = outside, nil
		_ = r.place(dir, &row, nil)
		if schedErr == nil {
			schedErr = r.switches(dir, &row)
		}
	} else {
		old.refused = r.call(dir, &row)
		if schedErr == nil {
			schedErr = r.switches(dir, &row)
		}
	}
	r.sched.note(schedErr)
	r.seen[tid] = seen{row, sched, old.refused}
	return row, true
}

// call reads what the thread waits in, and returns why its call could not be read.
func (r *reader) call(dir string, row *recording.Thread) (refused error) {
	if syscallNames != nil {
		var b []byte
		b, refused = r.optional(dir, "syscall")
		if refused == nil {
			var in call
			in, refused = parseSyscall(b, syscallNames, func(r Registers) bool { return r.Compat(dir + "../../exe") })
			row.Syscall, row.FD, row.Futex, row.Lock = in.name, in.fd, in.futex, in.lock
		}
		r.syscall.note(refused)
	}
	r.wchan.note(r.place(dir, row, refused))
	return refused
}

// place reads the kernel function that a thread sleeps in. refused is why its call may
// not be read.
func (r *reader) place(dir string, row *recording.Thread, refused error) error {
	b, err := r.file(dir + "wchan")
	if err == nil {
		row.Wchan = parseWchan(b)
	}
	if err == nil && row.Wchan == "" && (row.State == "S" || row.State == "D") {
		if errors.Is(refused, fs.ErrPermission) {
			// To whom may not see it the kernel writes 0 and no error
			// (fs/proc/base.c, proc_pid_wchan): the call's refusal tells.
			err = refused
		} else if b, stackErr := r.file(dir + "stack"); stackErr == nil { // root only
			row.Wchan = parseStack(b)
		}
	}
	return err
}

func (r *reader) switches(dir string, row *recording.Thread) error {
	b, err := r.file(dir + "status")
	if err != nil {
		return err
	}
	row.Voluntary, row.Involuntary, err = parseSwitches(b)
	return err
}
