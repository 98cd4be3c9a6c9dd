package threads

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// The first five ints of a pthread_mutex_t as a program of glibc 2.36 on amd64
// printed them, thread 22590 being the holder; then what may lie behind the lock
// words of others.
var mutexes = map[string][5]int32{
	"free": {0, 0, 0, 0, 0}, "nobody waits": {1, 0, 22590, 1, 0}, "held": {2, 0, 22590, 1, 0}, "recursive": {2, 1, 22590, 1, 1},
	"error-checking": {2, 0, 22590, 1, 2}, "adaptive": {2, 0, 22590, 1, 3}, "shared": {2, 0, 22590, 1, 128},
	"poisoned byte": {2, 0, 0, 0, 1}, "a count": {2, 7, -1, 1, 0}, "text": {2, 0x20202020, 0x20202020, 0x20202020, 0x20202020},
}

func mutex(name string) []byte {
	b := make([]byte, MutexHead)
	for i, v := range mutexes[name] {
		binary.NativeEndian.PutUint32(b[4*i:], uint32(v))
	}
	return b
}

func TestParseOwner(t *testing.T) {
	for name, want := range map[string]int{
		"held": 22590, "recursive": 22590, "error-checking": 22590, "adaptive": 22590, "shared": 22590,
		"free": 0, "nobody waits": 0, "poisoned byte": 0, "a count": 0, "text": 0,
	} {
		if got, ok := ParseOwner(mutex(name)); got != want || ok != (want != 0) {
			t.Errorf("%s: %d %v, want %d", name, got, ok, want)
		}
	}
	if _, ok := ParseOwner(mutex("held")[:19]); ok {
		t.Error("an owner out of a word that was cut off")
	}
}

func TestOwners(t *testing.T) {
	waits := func(tid int, at uint64) recording.Thread {
		return recording.Thread{TID: tid, Syscall: "futex", Futex: at, Lock: true}
	}
	rows := []recording.Thread{waits(1, 100), waits(2, 100), waits(3, 200), {TID: 4, Syscall: "futex", Futex: 300}, {TID: 22590, Syscall: "read"},
		waits(6, 400), waits(7, 400), waits(8, 500), waits(9, 500)}
	asked := map[uint64]int{}
	owners(1, rows, func(_ int, at uint64, b []byte) error {
		asked[at]++
		switch at {
		case 400:
			return errors.New("the mapping is gone")
		case 500: // names a thread that is not the process'
			copy(b, mutex("held"))
			binary.NativeEndian.PutUint32(b[8:], 99)
		default:
			copy(b, mutex("held"))
		}
		return nil
	})
	for i, want := range []int{22590, 22590, 0, 0, 0, 0, 0, 0, 0} {
		if rows[i].Owner != want {
			t.Errorf("thread %d: owner %d, want %d", rows[i].TID, rows[i].Owner, want)
		}
	}
	if len(asked) != 3 || asked[100] != 1 {
		t.Errorf("read %v: want each lock with more than one waiter, once", asked)
	}
}

func FuzzParseOwner(f *testing.F) {
	for name := range mutexes {
		f.Add(mutex(name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if tid, ok := ParseOwner(b); ok != (tid > 0) {
			t.Errorf("%x: %d %v", b, tid, ok)
		}
	})
}

// convoy is a child with threads that wait for a mutex as pthread_mutex_lock waits.
// One holds it and sleeps in read on a pipe.
func convoy() {
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil {
		fmt.Println("error", err)
		return
	}
	mutex := new([10]int32) // on the heap: its address stays
	held := make(chan int)
	go func() {
		runtime.LockOSThread()
		mutex[0], mutex[2], mutex[3] = taken, int32(unix.Gettid()), 1
		held <- unix.Gettid()
		_, _ = unix.Read(pipe[0], make([]byte, 1))
	}()
	owner := <-held
	for range 3 {
		go func() {
			runtime.LockOSThread()
			for {
				_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(mutex)), futexWait|128, taken, 0, 0, 0)
			}
		}()
	}
	time.Sleep(200 * time.Millisecond)
	fmt.Println("held", owner, pipe[0])
	time.Sleep(time.Minute)
	runtime.KeepAlive(mutex)
}

func TestConvoy(t *testing.T) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "THREADS_CONVOY=1")
	var owner, fd int
	if line := child(t, c, true); line == "" {
		t.Fatal("the child said nothing")
	} else if _, err := fmt.Sscanf(line, "held %d %d", &owner, &fd); err != nil {
		t.Fatalf("the child said %q", line)
	}
	m := watch(t, c.Process.Pid)
	waiting, holds := map[int]bool{}, false
	address := uint64(0)
	for _, r := range m.rec.Threads {
		if r.Lock {
			waiting[r.TID] = true
			if r.Owner != owner || r.Futex == 0 || address != 0 && r.Futex != address {
				t.Errorf("%+v, want it to wait for thread %d", r, owner)
			}
			address = r.Futex
		}
		if r.TID == owner && r.Syscall == "read" && r.FD == fd {
			holds = true
		}
	}
	if len(waiting) != 3 || !holds {
		t.Errorf("%d threads wait for the lock, want 3; its holder in read: %v", len(waiting), holds)
	}
}
