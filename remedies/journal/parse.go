package journal

import (
	"bytes"
	"fmt"
	"strings"
)

// Content is what a journal's file holds.
type Content struct {
	// Format is 2, or 1 of an older snag: without checksums, nothing was checked.
	Format int
	// Records are those that could be read, in their order; of format 2 each was checked.
	Records []Record
	// Damage is nil where nothing is wrong with the file.
	Damage *Damage

	last line   // the last record that could be read
	want uint64 // how many records there must be
	end  int    // where the next record goes
}

// Damage is what is wrong with a journal.
type Damage struct {
	What []string // a sentence for each place
}

func (d *Damage) Error() string {
	return "the journal is damaged: " + strings.Join(d.What, "; ")
}

// mostDamage that is told one by one.
const mostDamage = 5

func (c *Content) damaged(format string, args ...any) {
	if c.Damage == nil {
		c.Damage = &Damage{}
	}
	switch d := c.Damage; {
	case len(d.What) < mostDamage:
		d.What = append(d.What, fmt.Sprintf(format, args...))
	case len(d.What) == mostDamage:
		d.What = append(d.What, "and more")
	}
}

// parse reads a journal's file. It decides by the text alone.
func parse(text []byte) Content {
	if len(text) == 0 {
		c := Content{}
		c.damaged("it is empty")
		return c
	}
	first, _, _ := bytes.Cut(text, []byte{'\n'})
	if _, err := decodeRecord(first); err == nil {
		return parseOld(text)
	}
	return parseChecked(text)
}

// parseOld reads format 1. A last line without an end was never acted on.
func parseOld(text []byte) Content {
	c := Content{Format: 1}
	for n := 1; len(text) > 0; n++ {
		one, rest, ended := bytes.Cut(text, []byte{'\n'})
		if !ended {
			break
		}
		if r, err := decodeRecord(one); err != nil {
			c.damaged("line %d can't be used: %v", n, err)
		} else {
			c.Records = append(c.Records, r)
		}
		c.end += len(one) + 1
		text = rest
	}
	return c
}

// bad is a line that is no record.
type bad struct {
	number, end int
	why         error
}

func parseChecked(text []byte) Content {
	c := Content{Format: 2}
	count, last, headOK := decodeHead(text)
	c.want = count
	at, number := 0, 1
	if headOK {
		at, number = headLength, 2
	} else {
		c.damaged("its first line, which counts the records, can't be used")
	}
	c.end = at
	var waiting []bad // lines since the last record
	for ; at < len(text); number++ {
		one, _, ended := bytes.Cut(text[at:], []byte{'\n'})
		end := min(at+len(one)+1, len(text))
		if len(one) > 0 && (at > 0 || headOK) {
			l, err := decode(one)
			if err == nil && !ended {
				err = fmt.Errorf("it has no end")
			}
			if err != nil {
				waiting = append(waiting, bad{number, end, err})
			} else {
				c.take(l, number, waiting)
				waiting, c.end = nil, end
			}
		}
		at = end
	}
	c.close(headOK, last, waiting)
	return c
}

// take adds a record that was checked by itself, and checks that it follows the one before.
func (c *Content) take(l line, number int, waiting []bad) {
	for _, b := range waiting {
		c.damaged("line %d can't be used: %v", b.number, b.why)
	}
	switch {
	case l.n <= c.last.n:
		c.damaged("line %d has record %d, which is not in its place", number, l.n)
		return
	case l.n > c.last.n+1 && len(waiting) == 0:
		c.damaged("%s missing before line %d", recordsFrom(c.last.n+1, l.n-1), number)
	case l.n == c.last.n+1 && l.prev != c.last.sum:
		c.damaged("record %d, on line %d, does not follow the one before it", l.n, number)
	}
	c.last = l
	c.Records = append(c.Records, l.record)
}

// close compares with the count of the first line. What is not whole beyond it was being
// written when its writer ended, and nobody acted on it.
func (c *Content) close(headOK bool, last string, waiting []bad) {
	if headOK && c.last.n == c.want && c.last.sum != last {
		c.damaged("record %d is not the one that the first line counts", c.last.n)
	}
	if headOK && c.last.n >= c.want {
		return
	}
	for _, b := range waiting {
		c.damaged("line %d can't be used: %v", b.number, b.why)
		c.end = b.end
	}
	if headOK && len(waiting) == 0 {
		c.damaged("%s missing at the end", recordsFrom(c.last.n+1, c.want))
	}
}

func recordsFrom(a, b uint64) string {
	if a == b {
		return fmt.Sprintf("record %d is", a)
	}
	return fmt.Sprintf("records %d to %d are", a, b)
}
