package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"
)

const (
	// watchFor is how long the API server holds a watch open; then the next one begins where it ended.
	watchFor = 5 * time.Minute
	// kubePause is between two lists where a watch failed.
	kubePause = 5 * time.Second
)

// Follow lists, and then watches what changes (kubernetes.io/docs/reference/using-api/api-concepts, "efficient
// detection of changes").
func (k *kubernetes) Follow(ctx context.Context, on func(Update)) {
	out := changes{on: on}
	for ctx.Err() == nil {
		all, version, err := k.objects(ctx)
		if err == nil {
			out.take(all.list(), nil)
			for err == nil && ctx.Err() == nil {
				version, err = k.watch(ctx, all, version, &out)
			}
		}
		if ctx.Err() != nil {
			return
		}
		if !errors.Is(err, errExpired) {
			out.take(List{}, k.failed(err))
		}
		if wait(ctx, kubePause) != nil {
			return
		}
	}
}

// errExpired: the API server no longer has what happened since a version; all is listed again.
var errExpired = errors.New("the version is too old")

// event is a line of a watch.
type event struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// watch takes events until the server ends the watch.
func (k *kubernetes) watch(ctx context.Context, all objects, version string, out *changes) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, watchFor+askTimeout)
	defer cancel()
	query := maps.Clone(k.query)
	query.Set("watch", "1")
	query.Set("resourceVersion", version)
	query.Set("allowWatchBookmarks", "true")
	query.Set("timeoutSeconds", fmt.Sprint(int(watchFor.Seconds())))
	resp, err := k.web.open(ctx, k.path, query)
	var r *refused
	switch {
	case errors.As(err, &r) && r.code == http.StatusGone:
		return version, errExpired
	case err != nil:
		return version, err
	}
	defer resp.Body.Close()
	lines, began := json.NewDecoder(resp.Body), time.Now()
	for {
		var e event
		if err := lines.Decode(&e); err != nil {
			if errors.Is(err, io.EOF) && time.Since(began) > time.Second {
				return version, nil // it is over: the next one goes on
			}
			return version, fmt.Errorf("its watch ended: %w", err)
		}
		next, err := k.apply(all, e, out)
		if err != nil {
			return version, err
		}
		if next != "" {
			version = next
		}
	}
}

// apply takes one event, and returns the version after it.
func (k *kubernetes) apply(all objects, e event, out *changes) (string, error) {
	switch e.Type {
	case "ADDED", "MODIFIED", "DELETED":
		version, err := k.set(all, e.Object, e.Type == "DELETED")
		if err == nil {
			out.take(all.list(), nil)
		}
		return version, err
	case "BOOKMARK":
		var head struct {
			Metadata meta `json:"metadata"`
		}
		err := json.Unmarshal(e.Object, &head)
		return head.Metadata.ResourceVersion, err
	case "ERROR":
		var status struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal(e.Object, &status); err != nil {
			return "", fmt.Errorf("its error can't be read: %w", err)
		}
		if status.Code == http.StatusGone {
			return "", errExpired
		}
		return "", fmt.Errorf("its watch failed with %d: %s", status.Code, shown(status.Message))
	}
	return "", nil // a type that is to come
}
