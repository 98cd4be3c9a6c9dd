package recording

// Stream is one live stream as one place saw it, and what it is made of. Written
// when its first frame came, when its parameters changed, and at the end; the
// figures of each second are samples (docs/recording.md, streams.figures).
type Stream struct {
	T        Time   `json:"t"`
	Name     string `json:"name"`             // what a person calls it: "live/cam1", or --list's name for it
	URL      string `json:"url,omitempty"`    // without credentials, and without the query's values
	Protocol string `json:"protocol"`         // rtmp rtmps rtsp rtp mpegts hls ps ffprobe
	Layer    string `json:"layer,omitempty"`  // the name that --layers gave: ingest, origin, edge
	Side     string `json:"side"`             // one of the StreamSide… constants
	Netns    uint64 `json:"netns,omitempty"`  // of the connection's end on this host
	Local    string `json:"local,omitempty"`  // address:port of that end: snag's own for a player, the server's for the passive sides
	Remote   string `json:"remote,omitempty"` // address:port of the other end
	// Video and audio by the codec's usual name (h264 hevc av1 vp9 aac opus mp3
	// pcma); "" is none seen, which is not the same as none there: see Since.
	Video      string  `json:"video,omitempty"`
	Width      int     `json:"width,omitempty"`  // pixels, 0: not told by the stream
	Height     int     `json:"height,omitempty"` // pixels
	FPS        float64 `json:"fps,omitempty"`    // as the stream declares it, frames per second; 0: it does not
	Audio      string  `json:"audio,omitempty"`
	SampleRate int     `json:"sample_rate,omitempty"` // Hz
	Channels   int     `json:"channels,omitempty"`
	Threshold  float64 `json:"freeze_threshold_seconds,omitempty"` // no frame for so long is a freeze
	Asked      Time    `json:"asked,omitempty"`                    // when the reader connected
	First      Time    `json:"first,omitempty"`                    // arrival of the first video frame, audio's where there is no video; 0: none came
	Last       Time    `json:"last,omitempty"`                     // arrival of the last
	// Of a connection that was there before the capture, whose messages name no stream.
	Was       string `json:"was,omitempty"`           // what rows, samples and events before this row called it
	NamedBy   string `json:"named_by,omitempty"`      // itself: its own messages; frames: they are those of a stream of that name (or of that publisher's connection); address: nothing did
	Publisher string `json:"publisher,omitempty"`     // address:port of who sends it to the server; "": nobody was seen to
	Matched   int    `json:"matched_runs,omitempty"`  // runs of eight pictures that were the other stream's too, of
	Runs      int    `json:"compared_runs,omitempty"` // so many; by then
	Error     string `json:"error,omitempty"`         // why it could not be read, or ended
}

// Table names the row's table.
func (Stream) Table() string { return "streams" }

// Whose traffic a Stream was seen in.
const (
	StreamSidePlayer    = "player"    // snag's own reader: what a viewer at its place would see
	StreamSidePublisher = "publisher" // passive: what a publisher sent to this host
	StreamSideConsumer  = "consumer"  // passive: what this host sent to one reader
)

// StreamHop is how a stream fared between two neighbouring layers in one second:
// its frames were matched one to one by size, DTS steps and key frames, as
// timestamps may be rebased at each hop.
type StreamHop struct {
	T       Time    `json:"t"`
	Name    string  `json:"name"`
	From    string  `json:"from"`                    // layer
	To      string  `json:"to"`                      // layer
	Matched int     `json:"matched"`                 // video frames of From that came out of To
	Missing int     `json:"missing"`                 // that did not, while later ones did
	Added   int     `json:"added"`                   // frames of To that From never had
	Delay   float64 `json:"delay_seconds,omitempty"` // median of arrival at To less arrival at From; both by snag's own clock
	Longest float64 `json:"longest_delay_seconds,omitempty"`
	Rebased float64 `json:"rebased_seconds,omitempty"` // DTS at To less DTS at From
}

// Table names the row's table.
func (StreamHop) Table() string { return "stream_hops" }

// StreamFile is how the files of an HLS stream that is written on this host were at T:
// a row per second from when their writer was found (probes/streams/files). Path is the
// playlist that the writer keeps, as the writer sees it; of a master playlist that of
// the variant it was found by. Times of change are by the wall clock, as stat(2) has them.
type StreamFile struct {
	T     Time   `json:"t"`
	Name  string `json:"name"` // of the stream
	Layer string `json:"layer,omitempty"`
	Path  string `json:"path"`
	Size  int64  `json:"size"`  // of the playlist, bytes
	MTime Time   `json:"mtime"` // of the playlist's last change
	PID   int    `json:"pid"`   // who writes it
	Comm  string `json:"comm"`
	By    string `json:"by,omitempty"` // how it was found, in words
	// Segment is the one that is being written, "" where none was open at that instant.
	Segment      string `json:"segment,omitempty"`
	SegmentSize  int64  `json:"segment_size,omitempty"`  // bytes so far
	SegmentMTime Time   `json:"segment_mtime,omitempty"` // of its last write
}

// Table names the row's table.
func (StreamFile) Table() string { return "stream_files" }
