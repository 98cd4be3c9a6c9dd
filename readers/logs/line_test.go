package logs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"snag/internal/stamp"
)

func parserOf(t testing.TB, text string) *parser {
	t.Helper()
	clock := stamp.New(time.UTC, time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC))
	form := formOf([]byte(text), clock)
	if form == nil {
		t.Fatalf("%.80q has no form", text)
	}
	return &parser{form: form, clock: clock, columns: columnsOf([]byte(text))}
}

// told writes down what a line tells.
func told(e *entry) string {
	var b strings.Builder
	fmt.Fprint(&b, time.Unix(0, e.at).UTC().Format("15:04:05.999"))
	say := func(name string, value any) {
		if text := fmt.Sprintf("%s", value); text != "" {
			fmt.Fprintf(&b, " %s=%s", name, text)
		}
	}
	say("host", e.host)
	say("process", e.process)
	if e.pid > 0 {
		fmt.Fprintf(&b, " pid=%d", e.pid)
	}
	say("level", levels[e.level])
	say("what", e.what)
	say("stream", e.stream)
	say("member", e.member)
	say("peer", e.peer)
	say("local", e.local)
	say("call", e.call)
	say("errno", e.errno)
	if e.request {
		fmt.Fprintf(&b, " status=%d", e.status)
	}
	if e.took >= 0 {
		fmt.Fprintf(&b, " took=%g", e.took)
	}
	for _, a := range e.asked[:e.nAsked] {
		fmt.Fprintf(&b, " asked=%s/%g", a.peer, a.took)
	}
	if e.session {
		fmt.Fprintf(&b, " lasted=%g in=%d out=%d", e.lasted, e.in, e.out)
	}
	return b.String()
}

func TestLines(t *testing.T) {
	for _, c := range []struct{ form, line, want string }{
		{"access log", `10.0.0.7 - - [01/Mar/2026:12:00:00 +0100] "GET /a?k=1 HTTP/1.1" 200 12 "-" "curl/7"`, "11:00:00 peer=10.0.0.7 status=200"},
		{"access log", `10.0.0.7 - bob [01/Mar/2026:12:00:00 +0000] "GET / HTTP/1.1" 502 12 "-" "a \"b\" c" 1.204 1.200`, "12:00:00 peer=10.0.0.7 status=502 took=1.204 asked=/1.2"},
		{"access log", `10.0.0.7 - - [01/Mar/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12 rt=0.500 upstream=10.0.0.5:80 urt=0.498`, "12:00:00 peer=10.0.0.7 status=200 took=0.5 asked=10.0.0.5:80/0.498"},
		{"access log", `10.0.0.7 - - [01/Mar/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12 "-" "x" rt=2.500 ua="10.0.0.5:80, 10.0.0.6:80" urt="2.000, 0.498"`, "12:00:00 peer=10.0.0.7 status=200 took=2.5 asked=10.0.0.5:80/2 asked=10.0.0.6:80/0.498"},
		{"access log", `10.0.0.7 - - [01/Mar/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12 "-" "x" 2.500 10.0.0.5:80, 10.0.0.6:80 2.000, 0.498`, "12:00:00 peer=10.0.0.7 status=200 took=2.5 asked=10.0.0.5:80/2 asked=10.0.0.6:80/0.498"},
		{"access log", `10.0.0.7 - - [01/Mar/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12 "-" "x" 12345`, "12:00:00 peer=10.0.0.7 status=200"}, // Apache's %D, or anything
		{"access log", `10.0.0.7 - - [01/Mar/2026:12:00:00 +0000] "\x16\x03\x01" 400 150 "-" "-"`, "12:00:00 peer=10.0.0.7 status=400"},
		{"access log", `10.0.0.7 - - [01/Mar/2026:12:00:00 +0000] "" 408 0 "-" "-"`, "12:00:00 peer=10.0.0.7 status=408"},
		{"access log", `10.0.0.7 [01/Mar/2026:12:01:05 +0000] PUBLISH "live" "cam1" "key=x" - 812345 4321 "" "FMLE/3.0" (1m 5s)`, "12:01:05 what=unpublished stream=live/cam1 peer=10.0.0.7 lasted=65 in=812345 out=4321"},
		{"access log", `10.0.0.7 [01/Mar/2026:12:01:05 +0000] NONE "live" "" "" - 3073 3300 "" "" (0s)`, "12:01:05 what=disconnect peer=10.0.0.7 lasted=0 in=3073 out=3300"},
		{"time of day and date", `2026/03/01 12:00:00 [error] 12#12: *45 recv() failed (104: Connection reset by peer) while reading response header from upstream, client: 10.0.0.7, server: _, request: "GET / HTTP/1.1", upstream: "http://10.0.0.5:8080/", host: "x"`, "12:00:00 process=nginx pid=12 level=error what=reset peer=10.0.0.5:8080 call=recv errno=ECONNRESET"},
		{"time of day and date", `2026/03/01 12:00:00 [info] 12#12: *45 recv() failed (104: Connection reset by peer) while waiting for request, client: 10.0.0.7, server: 0.0.0.0:80`, "12:00:00 process=nginx pid=12 level=info what=reset peer=10.0.0.7 local=0.0.0.0:80 call=recv errno=ECONNRESET"},
		{"time of day and date", `2026/03/01 12:00:00 [error] 12#12: *45 upstream timed out (110: Connection timed out) while reading response header from upstream, client: 10.0.0.7, server: _, request: "GET / HTTP/1.1", upstream: "http://10.0.0.5:8080/", host: "x"`, "12:00:00 process=nginx pid=12 level=error what=timeout peer=10.0.0.5:8080"},
		{"time of day and date", `2026/03/01 12:00:00 [error] 12#12: *45 connect() failed (111: Connection refused) while connecting to upstream, client: 10.0.0.7, server: _, request: "GET / HTTP/1.1", upstream: "http://10.0.0.5:8080/", host: "x"`, "12:00:00 process=nginx pid=12 level=error what=refused peer=10.0.0.5:8080 call=connect errno=ECONNREFUSED"},
		{"time of day and date", `2026/03/01 12:00:00 [error] 12#12: *45 upstream prematurely closed connection while reading response header from upstream, client: 10.0.0.7, server: _, request: "GET / HTTP/1.1", upstream: "http://10.0.0.5:8080/", host: "x"`, "12:00:00 process=nginx pid=12 level=error what=closed-early peer=10.0.0.5:8080"},
		{"time of day and date", `2026/03/01 12:00:00 [crit] 12#12: accept4() failed (24: Too many open files)`, "12:00:00 process=nginx pid=12 level=error what=too-many-open-files call=accept errno=EMFILE"},
		{"time of day and date", `2026/03/01 12:00:00 [info] 12#12: *1 publish: name='cam1' args='' type=live silent=0, client: 10.0.0.7, server: 0.0.0.0:1935`, "12:00:00 process=nginx pid=12 level=info what=published stream=cam1 peer=10.0.0.7 local=0.0.0.0:1935"},
		{"time of day and date", `2026-03-01 12:00:00,123 ERROR [pool-1] com.x.Y - java.net.SocketException: Connection reset`, "12:00:00.123 level=error what=reset errno=ECONNRESET"},
		{"time of day and date", `2026-03-01 12:00:00,123 - root - WARNING - slow`, "12:00:00.123 level=warning"},
		{"time of day and date", `[2026-03-01 12:00:00.123] [INFO] ready`, "12:00:00.123 level=info"},
		{"time of day and date", `2026/03/01 12:00:00 read tcp 10.0.0.1:80->10.0.0.2:4711: read: connection reset by peer`, "12:00:00 level=error what=reset peer=10.0.0.2:4711 local=10.0.0.1:80 call=recv errno=ECONNRESET"},
		{"time of day and date", `2026-03-01T12:00:00.123Z [WARN]  agent.server.memberlist.lan: memberlist: Suspect node-3 has failed, no acks received`, "12:00:00.123 level=warning what=member-suspect member=node-3"},
		// As in hashicorp/consul issues 598, 2200 and 18396.
		{"time of day and date", `    2026/03/01 12:00:00 [INFO] serf: EventMemberFailed: ip-10-183-0-22.ec2.internal 10.183.0.22`, "12:00:00 level=warning what=member-failed member=ip-10-183-0-22.ec2.internal"},
		{"time of day and date", `    2026/03/01 12:00:00 [INFO] memberlist: Marking ip-10-183-0-22.ec2.internal as failed, suspect timeout reached`, "12:00:00 level=warning what=member-failed member=ip-10-183-0-22.ec2.internal"},
		{"time of day and date", `2026/03/01 12:00:00 [WARN] memberlist: Was able to reach app3-node-003 via TCP but not UDP, network may be misconfigured and not allowing bidirectional UDP`, "12:00:00 level=warning what=error member=app3-node-003"},
		{"time of day and date", `    2026/03/01 12:00:00 [ERR] memberlist: Failed fallback ping: read tcp 10.0.0.6:43834->10.0.0.8:7946: i/o timeout`, "12:00:00 level=error what=error"},
		{"syslog", `Mar  1 12:00:00 cb-dx2-gamma-1 consul[2272156]: 2026-03-01T12:00:00.193-0400 [INFO]  agent.server.memberlist.lan: memberlist: Suspect cb-dx2-gamma-2 has failed, no acks received`, "12:00:00 host=cb-dx2-gamma-1 process=consul pid=2272156 level=warning what=member-suspect member=cb-dx2-gamma-2"},
		{"syslog", `Mar  1 12:00:00 web-1 sshd[812]: error: kex_exchange_identification: read: Connection reset by peer`, "12:00:00 host=web-1 process=sshd pid=812 level=error what=reset errno=ECONNRESET"},
		{"syslog", `<27>Mar  1 12:00:00 web-1 app: it broke`, "12:00:00 host=web-1 process=app level=error what=error"},
		{"syslog (RFC 5424)", `<27>1 2026-03-01T12:00:00.5Z web-1 app 812 ID47 [a@1 b="]x\]"] it broke`, "12:00:00.5 host=web-1 process=app pid=812 level=error what=error"},
		{"journalctl -o short-iso", `2026-03-01T12:00:00+0100 web-1 systemd[1]: Started x.`, "11:00:00 host=web-1 process=systemd pid=1"},
		{"journalctl -o short-unix", `1772366400.250000 web-1 kernel: oom`, "12:00:00.25 host=web-1 process=kernel"},
		{"glog", `E0301 12:00:00.123456   77 f.go:1] dial tcp 10.0.0.5:80: connect: connection refused`, "12:00:00.123 level=error what=refused peer=10.0.0.5:80 call=connect errno=ECONNREFUSED"},
		{"asctime", `[Sun Mar 01 12:00:00.123456 2026] [proxy:error] [pid 5] (104)Connection reset by peer: x`, "12:00:00.123 pid=5 level=error what=reset errno=ECONNRESET"},
		{"asctime", `[Sun Mar 01 12:00:00.123456 2026] [proxy:error] [pid 5:tid 9] (111)Connection refused: AH00957: HTTP: attempt to connect to 10.0.0.5:8080 (10.0.0.5) failed`, "12:00:00.123 pid=5 level=error what=refused peer=10.0.0.5:8080 call=connect errno=ECONNREFUSED"},
		{"asctime", `[Sun Mar 01 12:00:00 2026] [error] (111)Connection refused: proxy: HTTP: attempt to connect to 10.0.0.5:8080 (10.0.0.5) failed`, "12:00:00 level=error what=refused peer=10.0.0.5:8080 call=connect errno=ECONNREFUSED"},
		{"asctime", `[Sun Mar 01 12:00:00 2026] [error] [client 10.0.0.7] File does not exist: /var/www/favicon.ico`, "12:00:00 level=error what=error peer=10.0.0.7"},
		{"CRI", `2026-03-01T12:00:00.123456789Z stderr F {"level":"error","msg":"broken pipe","ts":1.0}`, "12:00:00.123 level=error what=broken-pipe errno=EPIPE"},
		{"CRI", `2026-03-01T12:00:00Z stdout F 10.0.0.7 - - [01/Mar/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12 "-" "x" 0.500 0.498`, "12:00:00 peer=10.0.0.7 status=200 took=0.5 asked=/0.498"},
		{"Docker's json-file", `{"log":"2026/03/01 12:00:00 [error] 12#12: *4 upstream prematurely closed connection while reading response header from upstream, client: 1.2.3.4, server: , request: \"GET / HTTP/1.1\", upstream: \"http://10.0.0.5:80/\"\n","stream":"stderr","time":"2026-03-01T12:00:00.5Z"}`, "12:00:00.5 process=nginx pid=12 level=error what=closed-early peer=10.0.0.5:80"},
		{"JSON lines", `{"time":"2026-03-01T12:00:00Z","level":"WARN","msg":"play \"x\" timed out","stream":"live/cam1"}`, "12:00:00 level=warning what=timeout stream=live/cam1"},
		{"JSON lines", `{"msec":"1772366400.250","status":"200","request_time":"0.500","upstream_addr":"10.0.0.5:80","upstream_response_time":"0.400","remote_addr":"10.0.0.7"}`, "12:00:00.25 peer=10.0.0.7 status=200 took=0.5 asked=10.0.0.5:80/0.4"},
		{"JSON lines", `{"__REALTIME_TIMESTAMP":"1772366400250000","_HOSTNAME":"web-1","SYSLOG_IDENTIFIER":"app","_PID":"812","PRIORITY":"3","MESSAGE":"Connection refused"}`, "12:00:00.25 host=web-1 process=app pid=812 level=error what=refused errno=ECONNREFUSED"},
		{"date and time behind a word or three", `[main] ERROR 2026-03-01 12:00:00,123 - Broken pipe`, "12:00:00.123 level=error what=broken-pipe errno=EPIPE"},
		{"date and time behind a word or three", `update-alternatives 2026-03-01 12:00:00: run with --x`, "12:00:00"},
		{"epoch", `1772366400.25 x`, "12:00:00.25"},
	} {
		p := parserOf(t, c.line+"\n")
		if p.form.name != c.form {
			t.Errorf("%s\n  is taken for %s, want %s", c.line, p.form.name, c.form)
			continue
		}
		var e entry
		e.clear()
		clock := p.clock
		p.line(&clock, []byte(c.line), &e)
		if got := told(&e); got != c.want {
			t.Errorf("%s\n  tells %s\n  want  %s", c.line, got, c.want)
		}
	}
}

// Wowza's lines are those of its documentation
// (https://www.wowza.com/docs/about-logging-in-wowza-streaming-engine), their fields in the
// order of a real one (issue 23 of WowzaMediaSystems/wse-plugin-s3upload).
func TestWowza(t *testing.T) {
	const header = "#Version: 1.0\n#Start-Date: 2026-03-01 12:00:00 UTC\n#Fields: date\ttime\ttz\tx-event\tx-category\tx-severity\tx-status\tx-ctx\tx-comment\tx-vhost\tx-app\tx-appinst\tx-duration\ts-ip\ts-port\ts-uri\tc-ip\tc-proto\tc-referrer\tc-user-agent\tc-client-id\tcs-bytes\tsc-bytes\tx-stream-id\tx-spos\tcs-stream-bytes\tsc-stream-bytes\tx-sname\n"
	const at = "2026-03-01\t12:00:05\tUTC\t"
	for _, c := range []struct{ line, want string }{
		{at + "publish\tstream\tINFO\t200\tcam1\t-\t_defaultVHost_\tlive\t_definst_\t0.01\t10.0.0.1\t1935\trtmp://x/live\t10.0.0.7\trtmp\t-\tFMLE\t77\t3500\t3400\t1\t0\t0\t0\tcam1", "12:00:05 level=info what=published stream=live/cam1 peer=10.0.0.7"},
		{at + "disconnect\tsession\tINFO\t200\t77\t-\t_defaultVHost_\tlive\t_definst_\t65.5\t10.0.0.1\t1935\trtmp://x/live\t10.0.0.7\trtmp\t-\tFMLE\t77\t812345\t4321\t-\t-\t-\t-\t-", "12:00:05 level=info what=disconnect peer=10.0.0.7 local=10.0.0.1:1935 lasted=65.5 in=812345 out=4321"},
		{at + "comment\tserver\tWARN\t200\t-\tsomething timed out\t-\t-\t-\t0.01\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-", "12:00:05 level=warning what=timeout"},
	} {
		p := parserOf(t, header+c.line+"\n")
		var e entry
		e.clear()
		clock := p.clock
		p.line(&clock, []byte(c.line), &e)
		if got := told(&e); got != c.want {
			t.Errorf("%s\n  tells %s\n  want  %s", c.line, got, c.want)
		}
	}
}

func TestAStackTraceSaysWhatTheErrorWas(t *testing.T) {
	_, r := readText(t, "app.log", `2026-03-01 12:00:00,123 ERROR [pool-1] com.x.Y - call failed
java.util.concurrent.ExecutionException: it failed
	at com.x.Y.call(Y.java:7)
Caused by: java.net.ConnectException: Connection refused
	at java.base/sun.nio.ch.Net.pollConnect(Native Method)
2026-03-01 12:00:01,123 INFO fine
`, nil)
	if len(r.Events) != 1 || r.Events[0].Attrs["what"] != refused || r.Events[0].Value != 1 {
		t.Errorf("%+v", r.Events)
	}
}

func TestBurstsOfStatusesAreOneEvent(t *testing.T) {
	var b strings.Builder
	for i := range 50 {
		status := 200
		if i >= 20 && i < 40 {
			status = 502
		}
		fmt.Fprintf(&b, "10.0.0.%d - - [01/Mar/2026:12:00:%02d +0000] \"GET / HTTP/1.1\" %d 5 rt=0.001 upstream=10.1.0.5:80 urt=0.001\n", i, i, status)
	}
	_, r := readText(t, "access.log", b.String(), nil)
	if len(r.Events) != 1 || r.Events[0].Attrs["what"] != answered5xx || r.Events[0].Value != 20 || r.Events[0].Subject.Remote != "10.1.0.5:80" || r.Events[0].End.Sub(r.Events[0].T).Seconds() != 19 {
		t.Errorf("%+v", r.Events)
	}
}

func TestReadyMapsAreWhole(t *testing.T) {
	for _, name := range Maps() {
		if rules, err := readMap(name, ready(name)); err != nil || len(rules) == 0 {
			t.Errorf("%s: %d rules, %v", name, len(rules), err)
		}
	}
	if len(Maps()) < 7 {
		t.Errorf("maps: %v", Maps())
	}
}
