package logs

import "time"

// What a file is does not depend on zones: these are for looking at its beginning.
var (
	utcZone   = time.UTC
	farFuture = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)
