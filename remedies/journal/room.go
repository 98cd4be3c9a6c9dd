package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

// File systems that write a block that is written over to another place: room that is
// written before is none there. uapi/linux/magic.h; zfs and bcachefs by their own.
const (
	btrfsMagic    = 0x9123683e
	zfsMagic      = 0x2fc12fc1
	bcachefsMagic = 0xca451a4e
)

// noCOW is FS_NOCOW_FL of uapi/linux/fs.h.
const noCOW = 0x00800000

// noCopyOnWrite asks btrfs to write a new file's blocks over in their place. Others do
// not know of it.
func noCopyOnWrite(f *os.File) {
	if magicOf(f) != btrfsMagic {
		return
	}
	if flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS); err == nil {
		_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags|noCOW)
	}
}

func copiesOnWrite(f *os.File) bool {
	switch magicOf(f) {
	case btrfsMagic:
		flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
		return err != nil || flags&noCOW == 0
	case zfsMagic, bcachefsMagic:
		return true
	}
	return false
}

func magicOf(f *os.File) int64 {
	var st unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &st) != nil {
		return 0
	}
	return int64(st.Type)
}
