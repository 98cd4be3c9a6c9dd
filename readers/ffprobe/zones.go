package ffprobe

import "time"

// For looking at a file's beginning: what it is does not depend on zones.
var (
	utc       = time.UTC
	farFuture = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)
