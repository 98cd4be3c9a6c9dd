package act

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"snag/fleet/drain/plan"
	"snag/internal/post"
	"snag/internal/shown"
)

// Unexpected is an answer of another status than the one expected: the server is there, and refuses.
type Unexpected struct{ text string }

func (u *Unexpected) Error() string { return u.text }

// client follows no redirect and asks no proxy of the environment: a request goes where the plan says.
var client = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 1, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10, ResponseHeaderTimeout: time.Hour},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

const mostAnswer = 16 << 20 // bytes of a page of metrics

// Request makes a request and says what is wrong with the answer.
func Request(ctx context.Context, r plan.Request) error {
	resp, err := send(ctx, r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if r.Status != 0 && resp.StatusCode == r.Status || r.Status == 0 && resp.StatusCode/100 == 2 {
		return nil
	}
	want := "200 to 299"
	if r.Status != 0 {
		want = fmt.Sprint(r.Status)
	}
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // only to be shown
	text := shown.Text(strings.Join(strings.Fields(string(b)), " "))
	if text != "" {
		text = ": " + text
	}
	return &Unexpected{fmt.Sprintf("%s answers %s, and %s is expected%s", where(r.URL), shown.Text(resp.Status), want, text)}
}

func send(ctx context.Context, r plan.Request) (*http.Response, error) {
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, r.URL, strings.NewReader(r.Body))
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", where(r.URL), err)
	}
	if r.Headers != "" {
		if req.Header, err = post.Headers([]string{"@" + r.Headers}); err != nil {
			return nil, err
		}
	}
	resp, err := client.Do(req)
	if err == nil {
		return resp, nil
	}
	var with *url.Error
	if errors.As(err, &with) {
		err = with.Err
	}
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("no answer: %w", ErrLate)
	case errors.As(err, &op) && op.Op == "dial":
		err = dialCause(op)
	}
	return nil, fmt.Errorf("ask %s: %w", where(r.URL), err)
}

// where is a URL without its query, which may hold a secret.
func where(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "a URL that can't be read"
	}
	u.RawQuery, u.User = "", nil
	return shown.Text(u.String())
}

// Maintenance is the request that turns the maintenance mode of a service at a Consul agent on or off
// (developer.hashicorp.com/consul/api-docs/agent/service, "Enable Maintenance Mode").
func Maintenance(c plan.Consul, on bool) plan.Request {
	query := url.Values{"enable": {fmt.Sprint(on)}}
	if on {
		reason := c.Reason
		if reason == "" {
			reason = "snag drain"
		}
		query.Set("reason", reason)
	}
	return plan.Request{
		Method:  http.MethodPut,
		URL:     strings.TrimSuffix(c.URL, "/") + "/v1/agent/service/maintenance/" + url.PathEscape(c.Service) + "?" + query.Encode(),
		Headers: c.Headers,
	}
}

// Do carries out an action of a phase.
func Do(ctx context.Context, a plan.Action, phase plan.Phase) error {
	ctx, cancel := context.WithTimeout(ctx, a.Timeout.Or(plan.ActionTimeout))
	defer cancel()
	switch {
	case len(a.Run) > 0:
		return Run(ctx, a.Run)
	case a.HTTP != nil:
		return Request(ctx, *a.HTTP)
	}
	return Request(ctx, Maintenance(*a.Consul, phase == plan.Drain))
}

// Text is an action in a line, as it would be typed. Headers are named by their file alone.
func Text(a plan.Action, phase plan.Phase) string {
	if len(a.Run) > 0 {
		return Command(a.Run)
	}
	r := a.HTTP
	if a.Consul != nil {
		m := Maintenance(*a.Consul, phase == plan.Drain)
		r = &m
	}
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	text := method + " " + shown.Text(r.URL)
	if r.Headers != "" {
		text += " with the headers of " + shown.Text(r.Headers)
	}
	return text
}

// Command is a command's line, quoted for a shell where that is needed.
func Command(run []string) string {
	quoted := make([]string, len(run))
	for i, arg := range run {
		if arg == "" || strings.ContainsAny(arg, " \t\n'\"\\$`&|;<>()*?[]#~{}!") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		quoted[i] = shown.Text(arg)
	}
	return strings.Join(quoted, " ")
}
