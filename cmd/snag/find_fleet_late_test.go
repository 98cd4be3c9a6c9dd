package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A store that answers the first queries and then none, or half of an answer, is an error that says so: who was seen
// by then is not all there is.
func TestAStoreThatAnswersLate(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]string{
		"no answer":    "",
		"half of one":  `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"instance":"a"},`,
		"slow headers": "-",
	} {
		asked := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if asked++; asked < 3 {
				fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"instance":"a"},"value":[%d,"%d"]}]}}`, time.Now().Unix(), time.Now().Unix())
				return
			}
			if last != "-" {
				_, _ = io.WriteString(w, last)
				w.(http.Flusher).Flush()
			}
			<-r.Context().Done()
		}))
		f := storeFlags{store: s.URL}
		store, err := f.open()
		if err != nil {
			t.Fatal(err)
		}
		all, err := readFleet(t.Context(), store, time.Now(), 300*time.Millisecond)
		want := "find --fleet: the store has not answered all queries within 300ms: name fewer hosts with --hosts, or look at the store: ask " + s.URL
		if all != nil || err == nil || !strings.HasPrefix(err.Error(), want) || asked < 3 {
			t.Errorf("%s: %v after %d queries, want %s", name, err, asked, want)
		}
		s.Close()
	}
}
