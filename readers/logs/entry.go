package logs

// What lines tell of a subject. A map of the user's may have further words.
const (
	published     = "published"
	unpublished   = "unpublished"
	play          = "play"
	stop          = "stop"
	connect       = "connect"
	disconnect    = "disconnect"
	refused       = "refused"
	reset         = "reset"
	brokenPipe    = "broken-pipe"
	closedEarly   = "closed-early" // the peer ended the connection before its answer was whole
	timeout       = "timeout"
	noFiles       = "too-many-open-files"
	failure       = "error"
	answered5xx   = "http-5xx"
	freeze        = "freeze"
	unfreeze      = "unfreeze"
	memberSuspect = "member-suspect"
	memberFailed  = "member-failed"
	memberAlive   = "member-alive"
	memberLeft    = "member-left"
)

// level of a line as its logger has it.
type level uint8

const (
	noLevel level = iota
	info
	warning
	wrong // error and worse
)

// unknown is a number that a line does not tell.
const unknown = -1

// mostAsked upstreams of one request are kept: nginx names each that it tried.
const mostAsked = 4

// asked is one upstream and how long it took.
type asked struct {
	peer []byte // address:port, or a path
	took float64
}

// entry is what one line tells. Its bytes are those of the piece that it was read from.
type entry struct {
	at    int64 // Unix ns; 0: it has no time, and goes on with the line before
	size  int32 // bytes of the line
	level level
	what  string // "" for what tells nothing that is known

	host, process []byte
	pid           int
	peer          []byte // an address, or address:port
	stream        []byte
	member        []byte // of a cluster

	request bool // an HTTP request that was answered
	status  int
	took    float64 // s that the request took, or unknown
	asked   [mostAsked]asked
	nAsked  int

	// Of a connection that ended: how long it lasted (s), and what it carried. Bytes are
	// those of the log's own words: in is what the server received.
	session bool
	lasted  float64
	in, out int64

	call, errno string // of a call that failed: "recv", "ECONNRESET"
	local       []byte // address:port
}

func (e *entry) clear() {
	*e = entry{took: unknown, lasted: unknown, in: unknown, out: unknown}
}
