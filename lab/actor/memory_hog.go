package actor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

var memoryHog = Actor{
	Name:  "memory-hog",
	About: "holds shared memory that is locked; of one node, or with a hole at every other page",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		mib := f.Int("mib", 64, "MiB of it at most")
		leave := f.Int("leave", 0, "MiB that are to stay free meanwhile")
		node := f.Int("node", -1, "NUMA node that it is taken from; -1 is any")
		holes := f.Bool("holes", false, "give every other page back: what is free then is in pieces")
		if err := parse(); err != nil {
			return err
		}
		if *mib < 1 {
			return errors.New("--mib at least 1")
		}
		if err := bindMemory(*node); err != nil {
			return err
		}
		fd, err := unix.MemfdCreate("hog", 0)
		if err != nil {
			return fmt.Errorf("make shared memory: %w", err)
		}
		size := *mib << 20
		if err := unix.Ftruncate(fd, int64(size)); err != nil {
			return fmt.Errorf("make shared memory of %d MiB: %w", *mib, err)
		}
		mem, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return fmt.Errorf("map shared memory: %w", err)
		}
		_ = unix.Madvise(mem, unix.MADV_NOHUGEPAGE) // a page at a time
		size, err = lock(mem, *leave<<20)
		if err != nil {
			return err
		}
		fmt.Printf("locked %d MiB\n", size>>20)
		if *holes {
			for at := int64(0); at < int64(size); at += 2 * pageSize {
				if err := unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at, pageSize); err != nil {
					return fmt.Errorf("give a page back: %w", err)
				}
			}
			// What was left was left in one piece: it is taken as such.
			if err := takeWhole(*leave + 32); err != nil {
				return err
			}
		}
		ready()
		<-ctx.Done()
		return nil
	},
}

// takeWhole takes memory in huge pages as long as there are any, and keeps it.
func takeWhole(mib int) error {
	mem, err := unix.Mmap(-1, 0, mib<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return fmt.Errorf("map %d MiB: %w", mib, err)
	}
	_ = unix.Madvise(mem, unix.MADV_HUGEPAGE)
	for i := 0; i < len(mem); i += 2 << 20 {
		mem[i] = 1
	}
	return nil
}

// lock locks memory piece by piece until all of it is, or no more is free than is
// to be left, and returns how much it is.
func lock(mem []byte, leave int) (int, error) {
	const piece = 4 << 20
	for at := 0; at < len(mem); at += piece {
		if free, err := freeMemory(); err != nil || leave > 0 && free < leave+piece {
			return at, err
		}
		if err := unix.Mlock(mem[at:min(at+piece, len(mem))]); err != nil {
			return at, fmt.Errorf("lock memory after %d MiB: %w", at>>20, err)
		}
	}
	return len(mem), nil
}

func freeMemory() (int, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, fmt.Errorf("ask how much memory is free: %w", err)
	}
	return int(info.Freeram) * int(info.Unit), nil
}

// bindMemory takes what the process allocates from now on from one node only
// (set_mempolicy(2), MPOL_BIND), as numactl --membind does. A policy is a
// thread's: the calling goroutine stays on its own from then on.
func bindMemory(node int) error {
	if node < 0 {
		return nil
	}
	runtime.LockOSThread()
	const mpolBind = 2
	mask := [16]uint64{}
	mask[node/64] = 1 << (node % 64)
	if errno := setMempolicy(mpolBind, &mask); errno != 0 {
		return fmt.Errorf("bind memory to node %d: %w", node, errno)
	}
	return nil
}
