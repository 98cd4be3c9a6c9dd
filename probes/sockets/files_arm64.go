package sockets

import "golang.org/x/sys/unix"

// oldFileCalls are those that only this machine has.
var oldFileCalls = map[uint32]fileCall{unix.SYS_RENAMEAT: {"rename", fileInSecond}}
