package kernel

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// initialCgroups is the link of the host's own cgroup namespace (PROC_CGROUP_INIT_INO in include/linux/proc_ns.h).
const initialCgroups = "cgroup:[4026531835]"

// JoinCgroups moves this program into the host's cgroup namespace, if it is in a container's that has the host's
// control groups mounted. Kubernetes gives each container that is not privileged a namespace of its own, in which /proc
// names the groups of other processes from there ("/../../pod7/…"), and the files below /sys/fs/cgroup are not found by
// that. The namespace is a thread's, and Go has several threads before main: so the program is started again, and
// JoinCgroups does not return. It returns nil where there is nothing to join. It needs CAP_SYS_ADMIN (setns(2)).
func JoinCgroups(proc string) error {
	own, err := os.Readlink(proc + "/self/ns/cgroup")
	if err != nil || own == initialCgroups || os.Geteuid() != 0 || SeesPIDs(proc) != nil { // another user would lose what capabilities it has
		return nil
	}
	mounts, err := os.ReadFile(proc + "/self/mountinfo")
	if err != nil || !hostCgroups(string(mounts)) {
		return nil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := enterCgroups(proc); err != nil {
		return err
	}
	err = syscall.Exec(proc+"/self/exe", os.Args, os.Environ())
	return fmt.Errorf("start snag again in the host's cgroup namespace: %w", err)
}

// enterCgroups moves this thread. A security module may refuse the namespaces of process 1; 2 is the kernel's own.
func enterCgroups(proc string) error {
	var last error
	for _, pid := range []string{"1", "2"} {
		path := proc + "/" + pid + "/ns/cgroup"
		to, err := os.Readlink(path)
		if err == nil && to != initialCgroups {
			err = fmt.Errorf("%s is %s, not the host's", path, to)
		}
		if err != nil {
			last = fmt.Errorf("find the host's cgroup namespace: %w", err)
			continue
		}
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			last = fmt.Errorf("open %s: %w", path, err)
			continue
		}
		err = unix.Setns(fd, unix.CLONE_NEWCGROUP)
		unix.Close(fd)
		if err == nil {
			return nil
		}
		last = fmt.Errorf("enter the host's cgroup namespace by %s: %w: give the container CAP_SYS_ADMIN", path, err)
	}
	return last
}

// hostCgroups tells of /proc/self/mountinfo whether more control groups are mounted at /sys/fs/cgroup than those of the
// own namespace: their root lies above its own ("/.."; cgroup_show_path in kernel/cgroup/cgroup.c).
func hostCgroups(mountinfo string) bool {
	for line := range strings.Lines(mountinfo) {
		f := strings.Fields(line) // 36 35 0:30 /.. /sys/fs/cgroup ro … - cgroup2 cgroup rw (proc_pid_mountinfo(5))
		_, kind, ok := strings.Cut(line, " - cgroup")
		if ok && len(f) > 4 && kind != "" && strings.HasPrefix(f[4]+"/", "/sys/fs/cgroup/") && (f[3] == "/.." || strings.HasPrefix(f[3], "/../")) {
			return true
		}
	}
	return false
}
