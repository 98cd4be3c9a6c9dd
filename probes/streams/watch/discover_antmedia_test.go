package watch

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// antMedia is an Ant Media Server of one application as its source has it
// (BroadcastRestService, JWTFilter): broadcasts are given size at a time, and most at most.
func antMedia(t *testing.T, all []string, most int, token string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token != "" && r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "Invalid App JWT Token", http.StatusForbidden)
			return
		}
		var offset, size int
		if _, err := fmt.Sscanf(r.URL.Path, "/live/rest/v2/broadcasts/list/%d/%d", &offset, &size); err != nil {
			http.NotFound(w, r)
			return
		}
		from := min(offset, len(all))
		fmt.Fprintf(w, "[%s]", strings.Join(all[from:min(from+min(size, most), len(all))], ","))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestDiscoverAntMedia(t *testing.T) {
	body := answer(t, "antmedia.json")
	few := strings.Split(strings.Trim(strings.TrimSpace(string(body)), "[]"), "},\n")
	for i := range few[:len(few)-1] {
		few[i] += "}"
	}
	d, err := ParseDiscovery("antmedia:" + antMedia(t, few, 50, "") + "/live")
	if err != nil {
		t.Fatal(err)
	}
	entries, problems, err := d.Ask(context.Background())
	want := []string{"http://127.0.0.1:5080/live/streams/cam1.m3u8", "http://127.0.0.1:5080/live/streams/hall.m3u8"}
	if got := urls(entries); err != nil || len(problems) > 0 || !slices.Equal(got, want) || entries[0].Labels.String() != "app=live" {
		t.Errorf("%q, %v, %v", got, problems, err)
	}

	// Every third of 1,200 is live; the server gives fewer at a time than snag asks for.
	var many []string
	for i := range 1200 {
		status := []string{"broadcasting", "finished", "created"}[i%3]
		many = append(many, fmt.Sprintf(`{"streamId":"s%d","status":%q}`, i, status))
	}
	for _, most := range []int{50, 250} {
		d, err := ParseDiscovery("antmedia:" + antMedia(t, many, most, "") + "/live/rest/v2/broadcasts/list/0/10")
		if err != nil {
			t.Fatal(err)
		}
		entries, problems, err := d.Ask(context.Background())
		if err != nil || len(problems) > 0 || len(entries) != 400 || len(slices.Compact(urls(entries))) != 400 {
			t.Errorf("%d at a time: %d streams, %v, %v", most, len(entries), problems, err)
		}
	}
}

func TestAntMediaAnswersOddly(t *testing.T) {
	for body, says := range map[string]string{
		`{"success":false,"message":"no","dataId":null,"errorId":0}`: "another JSON document",
		`null`:                    "another text",
		`[{"streamId":"cam1","st`: "another JSON document",
		"":                        "nothing",
		"<html></html>":           "a web page",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		d, err := ParseDiscovery("antmedia:" + server.URL + "/live")
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = d.Ask(context.Background())
		server.Close()
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", body, err)
		}
	}
}
