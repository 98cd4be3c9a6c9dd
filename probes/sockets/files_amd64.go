package sockets

import "golang.org/x/sys/unix"

// oldFileCalls are those that newer machines have not.
var oldFileCalls = map[uint32]fileCall{
	unix.SYS_OPEN: {"open", fileInFirst}, unix.SYS_CREAT: {"open", fileInFirst}, unix.SYS_MKDIR: {"mkdir", fileInFirst}, unix.SYS_MKNOD: {"mknod", fileInFirst},
	unix.SYS_UNLINK: {"unlink", fileInFirst}, unix.SYS_RMDIR: {"rmdir", fileInFirst}, unix.SYS_RENAME: {"rename", fileInFirst}, unix.SYS_RENAMEAT: {"rename", fileInSecond},
	unix.SYS_LINK: {"link", fileInFirst}, unix.SYS_CHMOD: {"chmod", fileInFirst}, unix.SYS_CHOWN: {"chown", fileInFirst},
	unix.SYS_FORK: {"fork", fileNone}, unix.SYS_VFORK: {"fork", fileNone},
}
