package sockets

import (
	"snag/probes/sockets/diag"
	"snag/probes/sockets/owner"
	"snag/recording"
)

// book answers who listens where and who holds what, from the last dumps. It
// implements names.
type book struct {
	owners    *owner.Table
	listeners map[listenKey]uint64 // inode
	inodes    map[uint64]uint64    // inode → cookie, of the sockets of the last dump
	names     map[listenKey]uint64 // inodes of name servers' UDP sockets
	paths     map[uint64]string    // of UNIX listeners, by the kernel side's id
	findPath  func(id uint64) string
}

type listenKey struct {
	netns uint64
	local string
}

func newBook(owners *owner.Table) *book {
	return &book{owners: owners, listeners: map[listenKey]uint64{}, names: map[listenKey]uint64{}, inodes: map[uint64]uint64{}, paths: map[uint64]string{}}
}

// note enters a socket. Listeners stay after they have closed: what they
// accepted may outlive them.
func (b *book) note(f *diag.Found) {
	if f.Inode == 0 {
		return
	}
	b.inodes[f.Inode] = f.Cookie
	if f.State == "LISTEN" {
		b.listeners[listenKey{f.Netns, f.Local}] = f.Inode
	}
	if servesNames(&f.Socket) {
		b.names[listenKey{f.Netns, f.Local}] = f.Inode
	}
}

// servesNames reports whether a socket is one at which names are asked for (dns.h).
func servesNames(s *recording.Socket) bool {
	return s.Proto == "udp" && s.Remote == "" && recording.Port(s.Local) == "53"
}

func (b *book) nameServer(netns uint64, local string) (recording.FDRef, bool) {
	inode, ok := b.names[listenKey{netns, local}]
	if !ok {
		return recording.FDRef{}, false
	}
	return b.holder(inode)
}

func (b *book) listener(netns uint64, local string) (recording.FDRef, bool) {
	port := recording.Port(local)
	for _, addr := range [...]string{local, "0.0.0.0:" + port, "[::]:" + port} {
		if inode, ok := b.listeners[listenKey{netns, addr}]; ok {
			ref, _ := b.holder(inode)
			return ref, true
		}
	}
	return recording.FDRef{}, false
}

func (b *book) path(id uint64) string {
	p, ok := b.paths[id]
	if !ok && b.findPath != nil && id != 0 {
		p = b.findPath(id)
		b.paths[id] = p
	}
	return p
}

func (b *book) holder(inode uint64) (recording.FDRef, bool) {
	refs := b.owners.Of(inode)
	if len(refs) == 0 {
		return recording.FDRef{}, false
	}
	return refs[0], true
}
