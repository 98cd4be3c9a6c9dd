package ledger
import ("testing";"os";"snag/recording";"snag/scene")
func TestZZ(t *testing.T){
 r,err:=recording.Open(os.Getenv("REC")); if err!=nil {t.Fatal(err)}
 s:=scene.Build(r)
 r = withNames(r)
	standing, r := sinceBefore(s, r)
	left := newRoom()
	called := openCalls(s, r, standing, left)
	for _, v := range scene.Services(s, r, string(Serves)) {
		d := demandOf(s, r, v, standing, left)
		for _, w := range scene.Services(s, r, string(Calls)) {
		open, ended := map[int]uint64{}, map[int]uint64{}
		for _, row := range w.Rows {
			at := number(s.Window, row.T)
			open[at] += row.Open
			ended[at] += row.N
		}
		to:=address(w.Subject)
		limit,full:=d.ceiling(called,to,open,ended)
		t.Log(v.Subject.Comm, v.Subject.Local, to, limit, full, callersOf(s,r,d.party.PIDs,to), d.party.PIDs, w.PIDs)
		for at:=0;at<10;at++{ for _,p:=range w.PIDs { t.Log(at, d.seconds[at], called[p][at]) } }
		}
	}
}
