package lab

import "fmt"

// Unshare gives a program a mount namespace of its own.
var Unshare = Tool{"unshare", "util-linux"}

// Resolving is the command that runs a program with a resolv.conf of its own, in a mount
// namespace of its own: the host's is not touched. It becomes that program and keeps
// the process' number.
func (s *Stage) Resolving(conf string, argv ...string) []string {
	s.resolvers++
	file := s.File(fmt.Sprintf("resolv-%d.conf", s.resolvers), conf)
	return append([]string{"unshare", "-m", "sh", "-c", `mount --bind "$0" /etc/resolv.conf && exec "$@"`, file}, argv...)
}
