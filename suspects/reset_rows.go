package suspects

import "snag/recording"

// ofConnection tells whether a reset ended a connection that stood: a SYN that
// was refused (no socket, SYN_SENT, a listener, TcpAttemptFails) did not, and
// what comes after both sides are done with it hurts nobody.
func ofConnection(row recording.Reset) bool {
	switch row.State {
	case "ESTABLISHED", "CLOSE_WAIT":
		return true
	case "CLOSE":
		// The process aborts: the state is left before the reset is sent
		// (__tcp_close and tcp_disconnect, net/ipv4/tcp.c).
		return row.Dir == sentReset
	case "FIN_WAIT1", "FIN_WAIT2":
		// Data came for a socket that was closed already (tcp_rcv_state_process,
		// TCPAbortOnData): the peer was still sending.
		return row.Dir == sentReset
	}
	return false
}

const (
	sentReset     = "sent"
	receivedReset = "received"
)
