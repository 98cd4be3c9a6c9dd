package peek

import (
	"bytes"
	"slices"
	"strings"
)

// methods of HTTP (RFC 9110, section 9.3; RFC 5789) and RTSP (RFC 2326, section 10).
var methods = []string{
	"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
	"DESCRIBE", "ANNOUNCE", "SETUP", "PLAY", "PAUSE", "TEARDOWN", "RECORD", "REDIRECT", "GET_PARAMETER", "SET_PARAMETER",
}

// requestLine reads the first line of a request (RFC 9112, section 3): method,
// target, version. Of the target the query, the fragment and who logs in are left
// out: that is where secrets are. A line that is cut off ends in …
func requestLine(b []byte) (string, bool) {
	line, _, whole := bytes.Cut(b, []byte("\n"))
	method, rest, ok := strings.Cut(strings.TrimSuffix(string(line), "\r"), " ")
	if !ok || !slices.Contains(methods, method) || rest == "" {
		return "", false
	}
	target, version, versioned := strings.Cut(rest, " ")
	known := strings.HasPrefix(version, "HTTP/") || strings.HasPrefix(version, "RTSP/")
	if whole && !known {
		return "", false
	}
	cut := !whole && !versioned
	target, _, _ = strings.Cut(target, "#")
	if path, _, query := strings.Cut(target, "?"); query {
		target, cut = path, false
	}
	if scheme, after, ok := strings.Cut(target, "://"); ok {
		host, path, slash := strings.Cut(after, "/")
		if i := strings.LastIndexByte(host, '@'); i >= 0 {
			host = host[i+1:]
		} else if !slash && cut {
			host = "" // it may be a password that is cut off
		}
		target = scheme + "://" + host
		if slash {
			target += "/" + path
		}
	}
	if cut {
		target += "…"
	}
	target = clean(target)
	if !whole || !versioned {
		return method + " " + target, true
	}
	return method + " " + target + " " + clean(version), true
}
