package elimination

// Handshake are TLS handshakes.
type Handshake struct {
	Times
	Failed int    `json:"failed"`
	Why    string `json:"error"`
	Trips  int    `json:"round_trips"` // that the version takes
}

// Option is one socket option that was changed on this side, in pairs of runs.
type Option struct {
	Name  string       `json:"name"`
	Pairs [][2]float64 `json:"pairs"` // p50 as asked, and with the option
	Frees bool         `json:"frees"`
	Why   string       `json:"not_the_services"`
}

// Null are requests as asked and requests that do nothing, in turn, with TCP_NODELAY and TCP_QUICKACK.
type Null struct {
	Asked Asked  `json:"asked"`
	Null  *Asked `json:"null"`
}

// Step is one rate.
type Step struct {
	Rate    float64 `json:"rate"`
	Conns   int     `json:"connections"`
	Answers float64 `json:"answers"` // per second
	Due     float64 `json:"since_due_p50"`
	Sent    float64 `json:"since_sent_p50"`
	Behind  int64   `json:"behind"`
	Lost    int64   `json:"lost"`
	Why     string  `json:"not_the_services"`
}
