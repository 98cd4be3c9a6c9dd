package rtmp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"snag/internal/amf"
	"snag/internal/rtmp"
	"snag/probes/streams/stream"
)

// guard is a server that lets in who answers Adobe's challenge: each step is a
// connection, told apart by the application's name.
func guard(t *testing.T, steps *atomic.Int32) func(net.Conn) {
	return func(c net.Conn) {
		if !shake(c) {
			return
		}
		steps.Add(1)
		app := appOf(c)
		_, query, _ := strings.Cut(app, "?")
		q := map[string]string{}
		for pair := range strings.SplitSeq(query, "&") {
			name, value, _ := strings.Cut(pair, "=")
			q[name] = value
		}
		words := "[ AccessManager.Reject ] : [ code=403 need auth; authmod=adobe ] : "
		switch {
		case q["response"] == base64md5(base64md5("me"+"salt+"+"pass word")+"opaque="+q["challenge"]) && q["opaque"] == "opaque=":
			c.Write((&server{}).letIn().status("error", "NetStream.Play.StreamNotFound", "but let in").b)
			io.Copy(io.Discard, c)
			return
		case q["response"] != "":
			words = "[ AccessManager.Reject ] : [ authmod=adobe ] : ?reason=authfailed&opaque=x"
		case q["user"] == "me":
			words = "[ AccessManager.Reject ] : [ authmod=adobe ] : ?reason=needauth&user=me&salt=salt+&challenge=chal&opaque=opaque="
		}
		c.Write((&server{}).command(0, "_error", 1, nil, amf.Object{{Name: "level", Value: "error"},
			{Name: "code", Value: "NetConnection.Connect.Rejected"}, {Name: "description", Value: words}}).b)
		io.Copy(io.Discard, c)
	}
}

// appOf reads up to the connect command and returns its application.
func appOf(c net.Conn) string {
	p, buf := rtmp.NewParser(), make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return ""
		}
		for b := buf[:n]; len(b) > 0; {
			k, m, err := p.Next(b)
			if err != nil {
				return ""
			}
			if b = b[k:]; m == nil {
				continue
			}
			if v, err := amf.Decode(m.Body()); err == nil && len(v) > 2 && v[0] == "connect" {
				o, _ := v[2].(amf.Object)
				return o.String("app")
			}
		}
	}
}

func TestOpenAnswersAChallenge(t *testing.T) {
	for _, c := range []struct {
		user  *url.Userinfo
		want  string
		steps int32
	}{
		{url.UserPassword("me", "pass word"), "but let in", 3},
		{url.UserPassword("me", "wrong"), "reason=authfailed", 3},
		{nil, "user:password@host", 1},
	} {
		var steps atomic.Int32
		u := &url.URL{Scheme: "rtmp", User: c.user, Host: script(t, guard(t, &steps)), Path: "/live/cam1"}
		err := openAt(t, context.Background(), u.String(), &seen{}, stream.Options{})
		var refused *stream.Refused
		if !errors.As(err, &refused) || !strings.Contains(refused.Why, c.want) || steps.Load() != c.steps {
			t.Errorf("%v: %v after %d connections, want %q after %d", c.user, err, steps.Load(), c.want, c.steps)
		}
		if err != nil && (strings.Contains(err.Error(), "pass word") || strings.Contains(err.Error(), "wrong")) {
			t.Errorf("the password is in %q", err)
		}
	}
}
