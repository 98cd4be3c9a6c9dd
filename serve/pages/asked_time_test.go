package pages

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Whoever asks may have a clock that is ahead of this host's: it gets what there is up to now.
func TestTheTimeThatIsAskedFor(t *testing.T) {
	now := time.Date(2025, 11, 30, 14, 17, 28, 0, time.UTC)
	for query, want := range map[string]string{
		"from=2025-11-30T14:16:28Z&to=2025-11-30T14:17:28Z":      "14:16:28 14:17:28",
		"from=2025-11-30T14:17:08Z&to=2025-11-30T14:18:08.1Z":    "14:17:08 14:17:28",
		"from=2025-11-30T14:17:28Z&to=2025-11-30T14:18:28Z":      "later than now, which is 2025-11-30T14:17:28Z by this host's clock",
		"from=2025-11-30T14:00:00Z&to=2025-11-30T14:10:01Z":      "10m0s at the most",
		"from=2025-11-30T15:16:28%2B01:00&to=2025-11-30T14:17:Z": "to: no time",
	} {
		from, to, err := askedTime(httptest.NewRequest("GET", "/recording?"+query, nil), now)
		got := from.Format(time.TimeOnly) + " " + to.Format(time.TimeOnly)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
