package recording

// Request is one request and its answer as two captures show them, one from each end
// (readers/sides). Only those that made their client wait longest have a row; all are
// in the table request_seconds. Durations are seconds; a part is nil where it could
// not be told. Wait is made of AtServer, Out and Back, and Upload, Wait and Download
// of the whole, where nothing stood still in the answer.
type Request struct {
	T      Time   `json:"t"`      // when its first byte left the client, by the clock of the client's capture
	Client string `json:"client"` // address:port, as the client's capture has them
	Server string `json:"server"`
	// ServerAt and ClientAt are the addresses in the server's capture, where a NAT
	// changed them.
	ClientAt string `json:"client_at,omitempty"`
	ServerAt string `json:"server_at,omitempty"`
	Name     string `json:"name,omitempty"` // "GET /x" of HTTP/1 (without its query), "connect", "greeting"
	// Usual is what half of the requests of that name to that server waited at the most,
	// s, and Alike how many they are; 0: it has no name, or there were too many names.
	Usual float64 `json:"usual,omitempty"`
	Alike uint64  `json:"alike,omitempty"`
	N     int     `json:"n"`     // requests in it; more than one where they overlap and can't be told apart
	Parts int     `json:"parts"` // 1: a request and its answer, cleanly one after the other
	// Wait is what the client waited for others: from its last byte to the answer's
	// first, and what stood still inside of the answer or of its request.
	Wait     float64 `json:"wait"`
	Upload   float64 `json:"upload"`   // from the request's first byte to its last, as they left the client
	Download float64 `json:"download"` // from the answer's first byte to its last, as they came to the client
	// AtServer is what of Wait passed at the server: from the request's last byte come
	// to the answer's first byte gone, by the server's capture alone; and Stood, pauses
	// inside of an answer of which more was due.
	AtServer float64 `json:"at_server"`
	Stood    float64 `json:"stood,omitempty"`
	Network  float64 `json:"network"` // Wait without AtServer: both ways together
	// Out and Back are the two ways; each may be off by Bound, what the one has too
	// much the other has too little.
	Out   *float64 `json:"out,omitempty"`
	Back  *float64 `json:"back,omitempty"`
	Bound float64  `json:"bound,omitempty"`
	// Paused is what the client let pass itself: it paused in its request, or its
	// window had no room for the answer. Not in Wait.
	Paused   float64 `json:"paused,omitempty"`
	BytesOut int64   `json:"bytes_out"`
	BytesIn  int64   `json:"bytes_in"`
	// Segments that were lost between the two captures on each way.
	LostOut  int `json:"lost_out,omitempty"`
	LostBack int `json:"lost_back,omitempty"`
	// Hops are what of Network passed where, the client's end first, if captures between
	// the two have it as well (readers/sides).
	Hops []Hop `json:"hops,omitempty"`
	// Unanswered says how it ended without an answer: "open" (the capture ends),
	// "closed", "reset"; "lost": it never came to the server whole.
	Unanswered string `json:"unanswered,omitempty"`
	// Of a server that was looked into: from the request whole in the kernel
	// to the read of its last byte, from there to the write of the answer's first byte,
	// and from there to its leaving.
	Unread *float64 `json:"unread,omitempty"`
	Inside *float64 `json:"inside,omitempty"`
	Unsent *float64 `json:"unsent,omitempty"`
	// InsideBy is what told it: "trace" (its calls), "turns" (the request turns of its
	// sockets, of a recording of its host) or "sockets" (their queues, once a second).
	InsideBy string `json:"inside_by,omitempty"`
	PID      int    `json:"pid,omitempty"`
	Comm     string `json:"comm,omitempty"`
}

// Hop is the network between two captures on the way of a request.
type Hop struct {
	From     string  `json:"from"` // the capture on the client's side, as its file is called
	To       string  `json:"to"`
	Network  float64 `json:"network"` // both ways together, s
	LostOut  int     `json:"lost_out,omitempty"`
	LostBack int     `json:"lost_back,omitempty"`
}

// RequestSecond sums the requests to one server that ended in one second, of those
// that both captures have whole.
type RequestSecond struct {
	T       Time   `json:"t"`
	Server  string `json:"server"`            // address:port as the client's capture has it
	Connect bool   `json:"connect,omitempty"` // handshakes, which are not among the requests
	N       uint64 `json:"n"`
	// Sum and Max of Request.Wait, s; and what of the sum passed at the server and on
	// the network.
	Sum       float64 `json:"sum"`
	Max       float64 `json:"max"`
	ServerSum float64 `json:"server_sum"`
	ServerMax float64 `json:"server_max"`
	Network   float64 `json:"network_sum"`
	Paused    float64 `json:"paused_sum,omitempty"`
	// Segments lost between the captures.
	LostOut    uint64 `json:"lost_out,omitempty"`
	LostBack   uint64 `json:"lost_back,omitempty"`
	Unanswered uint64 `json:"unanswered,omitempty"`
	// Hist counts waits by TurnBound, ServerHist the server's part of each and
	// NetworkHist the network's.
	Hist        []uint64 `json:"hist,omitempty"`
	ServerHist  []uint64 `json:"server_hist,omitempty"`
	NetworkHist []uint64 `json:"network_hist,omitempty"`
}

// Table names.
func (Request) Table() string       { return "requests" }
func (RequestSecond) Table() string { return "request_seconds" }

// TurnBucket is the bucket of Turns.Hist, and of those of RequestSecond, in which a
// duration counts.
func TurnBucket(seconds float64) int {
	i := 0
	for i < 80 && seconds >= TurnBound(i+1) {
		i++
	}
	return i
}
