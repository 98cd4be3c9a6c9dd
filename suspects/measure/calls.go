package measure

import (
	"snag/recording"
	"snag/suspects/suspect"
)

// PatienceCalls make a program give up a peer that is gone.
func PatienceCalls(sub recording.Subject) []suspect.Call {
	who := suspect.WhoseCall(sub)
	return []suspect.Call{
		{Who: who, Do: "setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 10000)", Why: "unacknowledged data ends the connection after 10 s, in place of the 15 minutes of net.ipv4.tcp_retries2 (RFC 5482)"},
		{Who: who, Do: "setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, 1); TCP_KEEPIDLE 10, TCP_KEEPINTVL 5, TCP_KEEPCNT 3", Why: "a silent peer is asked after 10 s and given up after 25 s, in place of 2 hours"},
	}
}
