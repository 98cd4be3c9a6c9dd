package logs

import "bytes"

// columns are where the fields of a log in the W3C extended format stand ("#Fields: …"),
// which Wowza Streaming Engine writes with tabs.
type columns map[string]int

// wowzaFields are Wowza's own, for a file that has lost its beginning (the access log's
// default fields, conf/log4j2-config.xml; in their order in the wild:
// issue 23 of WowzaMediaSystems/wse-plugin-s3upload).
const wowzaFields = "date time tz x-event x-category x-severity x-status x-ctx x-comment x-vhost x-app x-appinst x-duration s-ip s-port s-uri c-ip c-proto c-referrer c-user-agent c-client-id cs-bytes sc-bytes x-stream-id x-spos cs-stream-bytes sc-stream-bytes x-sname x-sname-query x-file-name x-file-ext x-file-size x-file-length x-suri x-suri-stem x-suri-query cs-uri-stem cs-uri-query"

// columnsOf reads the header in a file's beginning; nil where the file has none and is
// not Wowza's.
func columnsOf(head []byte) columns {
	if at := bytes.Index(head, []byte("#Fields:")); at >= 0 && (at == 0 || head[at-1] == '\n') {
		line, _, _ := bytes.Cut(head[at+len("#Fields:"):], []byte("\n"))
		return named(line)
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if bytes.Count(line, []byte("\t")) >= 12 {
		return named([]byte(wowzaFields))
	}
	return nil
}

func named(line []byte) columns {
	c := columns{}
	for i, f := range bytes.Fields(line) {
		if len(c) < 100 {
			c[string(f)] = i
		}
	}
	if _, ok := c["x-event"]; !ok {
		return nil
	}
	return c
}

// wowzaEvents of the category "stream" or "session".
var wowzaEvents = map[string]string{
	"connect": connect, "disconnect": disconnect, "publish": published, "unpublish": unpublished, "play": play, "stop": stop,
	"connect-burst": connect, "create": "", "destroy": "",
}

// wowzaLine reads one line by its columns; false for a line that has not as many.
func (e *entry) wowzaLine(c columns, line []byte) bool {
	var fields [100][]byte
	n := 0
	for n < len(fields) {
		field, rest, more := bytes.Cut(line, []byte("\t"))
		fields[n] = field
		n++
		if line = rest; !more {
			break
		}
	}
	get := func(name string) []byte {
		i, ok := c[name]
		if !ok || i >= n || string(fields[i]) == "-" {
			return nil
		}
		return fields[i]
	}
	event := get("x-event")
	if event == nil || n < 5 {
		return false
	}
	e.level = levelOf(get("x-severity"))
	what, known := wowzaEvents[string(event)]
	if !known {
		if comment := get("x-comment"); e.level == wrong || e.level == warning {
			e.failure(comment)
			if e.what == "" && e.level == wrong {
				e.what = failure
			}
		}
		return true
	}
	if what == "" {
		return true
	}
	e.what = what
	e.peer, e.stream = get("c-ip"), get("x-sname")
	if e.stream == nil {
		e.stream = get("x-file-name")
	}
	if app := get("x-app"); app != nil && e.stream != nil {
		e.stream = append(append(append(make([]byte, 0, len(app)+len(e.stream)+1), app...), '/'), e.stream...)
	}
	if what == disconnect {
		e.session = true
		e.lasted = decimal(get("x-duration"))
		if in, out := get("cs-bytes"), get("sc-bytes"); digits(in) && digits(out) {
			e.in, e.out = int64(number(in)), int64(number(out))
		}
		if port := get("s-port"); port != nil {
			e.local = append(append(append(make([]byte, 0, 24), orAny(get("s-ip"))...), ':'), port...)
		}
	}
	return true
}

func orAny(b []byte) []byte {
	if b == nil {
		return []byte("0.0.0.0")
	}
	return b
}
