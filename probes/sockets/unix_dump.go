package sockets

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"snag/probes/sockets/diag"
	"snag/recording"
)

const unixProto = "unix"

// askUnix dumps the UNIX listeners of a namespace, and in a dump of everything the
// connections with them.
func (s *survey) askUnix(c *diag.Conn, t recording.Time, id uint64, everything bool) error {
	states := uint32(1 << diag.Listen)
	if everything {
		states |= 1 << diag.Established
	}
	var all []diag.Unix
	if err := c.DumpUnix(states, func(u diag.Unix) { all = append(all, u) }); err != nil {
		return err
	}
	for _, row := range unixRows(all) {
		row.T, row.Netns = t, id
		s.found = append(s.found, diag.Found{Socket: row})
	}
	return nil
}

// unixRows are the streams of a dump with an address at either end: no pairs, and of
// listeners for events only the listeners. Who connects has no address of its own: it and
// its end of the connection are named by its inode, as ss does.
func unixRows(all []diag.Unix) (out []recording.Socket) {
	byInode := map[uint64]*diag.Unix{}
	listens := map[string]bool{}
	for i, u := range all {
		byInode[u.Inode] = &all[i]
		if u.State == "LISTEN" {
			listens[u.Name] = true
		}
	}
	for _, u := range all {
		if u.Type != unix.SOCK_STREAM && u.Type != unix.SOCK_SEQPACKET {
			continue
		}
		row := recording.Socket{Inode: u.Inode, Cookie: u.Cookie, Proto: unixProto, State: u.State, Local: recording.UnixPrefix + u.Name, RecvQ: u.RecvQ}
		switch peer := byInode[u.Peer]; {
		case u.State == "LISTEN":
			row.SendQ = u.SendQ
			if u.Name == "" {
				continue
			}
		case u.Name != "" && listens[u.Name]: // accepted
			row.Remote = inodeAddress(u.Peer)
			if events.MatchString(row.Local) {
				continue
			}
		case peer != nil && peer.Name != "" && u.Peer != 0:
			row.Local, row.Remote = inodeAddress(u.Inode), recording.UnixPrefix+peer.Name
			if events.MatchString(row.Remote) {
				continue
			}
		default:
			continue
		}
		out = append(out, row)
	}
	return out
}

// inodeAddress is the address of an end that is bound to none.
func inodeAddress(inode uint64) string { return fmt.Sprint(recording.UnixPrefix, "#", inode) }

func (r *running) fillUnix(c *recording.Coverage) {
	why, cure := r.survey.unseen()
	switch err := r.survey.unix; {
	case errors.Is(err, diag.ErrNoUnix):
		unavailable(c, err.Error(), "modprobe unix_diag, or a kernel that has it (CONFIG_UNIX_DIAG)")
	case err != nil:
		partial(c, err.Error(), "")
	case why != "":
		partial(c, why, cure)
	}
}
