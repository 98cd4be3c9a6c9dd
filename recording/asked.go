package recording

// LongestAsked is the age, in seconds, above which a question without an answer is a long poll,
// a subscription or an unused connection, and no request.
const LongestAsked = 60

// Asked reports whether the last data on a connection was a request, and its age in seconds
// (tcp_info's last_data_sent and last_data_recv). accepted means that the requests come from the
// peer. answered is false where no request on this connection was ever answered: the data may
// then be a log or a stream.
func (t *TCPInfo) Asked(accepted bool) (age float64, answered, ok bool) {
	request, answer := t.LastSnd, t.LastRcv
	requested, returned := t.BytesSent, t.BytesReceived
	if accepted {
		request, answer, requested, returned = answer, request, returned, requested
	}
	if requested == 0 || request > LongestAsked {
		return 0, false, false
	}
	return request, returned > 0, request < answer || returned == 0 && request == answer
}
