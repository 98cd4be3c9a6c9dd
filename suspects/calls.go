package suspects

import "snag/recording"

// patienceCalls make a program give up a peer that is gone.
func patienceCalls(sub recording.Subject) []Call {
	who := whoseCall(sub)
	return []Call{
		{who, "setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 10000)", "unacknowledged data ends the connection after 10 s, in place of the 15 minutes of net.ipv4.tcp_retries2 (RFC 5482)"},
		{who, "setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, 1); TCP_KEEPIDLE 10, TCP_KEEPINTVL 5, TCP_KEEPCNT 3", "a silent peer is asked after 10 s and given up after 25 s, in place of 2 hours"},
	}
}
