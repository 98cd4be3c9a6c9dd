package asking

import (
	"errors"
	"net/url"
)

// reason is an error without the URL that it was for: that may hold credentials.
func reason(err error) string {
	var of *url.Error
	if errors.As(err, &of) {
		if of.Timeout() {
			return "no answer within 10 s"
		}
		err = of.Err
	}
	return err.Error()
}
