package prom

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestQueryRange(t *testing.T) {
	var asked string
	answer := `{"status":"success","warnings":["store-2: deadline"],"data":{"result":[
		{"metric":{"instance":"a"},"values":[[1795976155,"1"],[1795976155.5,"NaN"],[1795976160.1,"2"]]},{"metric":{"instance":"b"},"values":[]}],"resultType":"matrix"}}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = fmt.Sprint(r.URL.Path, " ", r.PostFormValue("query"), " ", r.PostFormValue("start"), " ", r.PostFormValue("end"), " ", r.PostFormValue("step"))
		fmt.Fprint(w, answer)
	}))
	defer s.Close()
	c, err := New(s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Unix(1795976155, 0)
	a, err := c.QueryRange(t.Context(), "up", from, from.Add(time.Minute), 5*time.Second)
	if err != nil || asked != "/api/v1/query_range up 1795976155.000 1795976215.000 5.000" {
		t.Errorf("%s %v", asked, err)
	}
	if len(a.Series) != 2 || len(a.Warnings) != 1 || a.Series[0].Labels["instance"] != "a" || fmt.Sprint(a.Series[0].Points) != "[{1795976155000 1} {1795976160100 2}]" {
		t.Errorf("%+v", a)
	}
	for text, want := range map[string]string{
		`{"status":"success","data":{"resultType":"vector","result":[]}}`:                                            "no matrix",
		`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1,2]]}]}}`:              "can't be read",
		`{"status":"error","errorType":"execution","error":"query processing would load too many samples"}`:          "refuses the query: execution",
		`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":"none"}]}}`:               "can't be read",
		`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"instance":"a"},"value":[1,"1"]}]}}`: "",
	} {
		answer = text
		a, err := c.QueryRange(t.Context(), "up", from, from, time.Second)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v %v", text, a, err)
		}
	}
}
