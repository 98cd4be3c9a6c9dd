package recording

import "encoding/json"

// move carries a recording from one version to the next while it is read; the
// files stay as they are. A nil function changes nothing.
type move struct {
	from     int
	manifest func(m map[string]json.RawMessage) error
	// row changes the columns of one row, in place; false drops the row.
	row func(table string, row map[string]json.RawMessage) (keep bool, err error)
	// metric gives a series its new name.
	metric func(name string) string
}

// schema is a version and the moves that lead to it.
type schema struct {
	version int
	moves   []move
}

// current has one move for each version before this one. When Version becomes
// 2, the first is
//
//	{from: 1, row: func(table string, row map[string]json.RawMessage) (bool, error) { … }}
//
// and testdata keeps a packed recording of version 1 that Open must still read.
var current = schema{version: Version, moves: []move{}}

// from returns the moves that lead from that version to the schema's own; false
// when there is no such way.
func (s schema) from(version int) ([]move, bool) {
	if version < 1 || version > s.version {
		return nil, false
	}
	var todo []move
	for v := version; v < s.version; v++ {
		found := false
		for _, m := range s.moves {
			if m.from == v {
				todo, found = append(todo, m), true
				break
			}
		}
		if !found {
			return nil, false
		}
	}
	return todo, true
}

func moveManifest(todo []move, b []byte) ([]byte, error) {
	for _, m := range todo {
		if m.manifest == nil {
			continue
		}
		var cols map[string]json.RawMessage
		if err := json.Unmarshal(b, &cols); err != nil {
			return nil, err
		}
		if err := m.manifest(cols); err != nil {
			return nil, err
		}
		var err error
		if b, err = json.Marshal(cols); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// moveRow returns the line as the present version writes it; nil: the row is no
// more.
func moveRow(todo []move, table string, line []byte) ([]byte, error) {
	for _, m := range todo {
		if m.row == nil {
			continue
		}
		var cols map[string]json.RawMessage
		if err := decodeRow(line, &cols); err != nil {
			return nil, err
		}
		keep, err := m.row(table, cols)
		if err != nil || !keep {
			return nil, err
		}
		if line, err = json.Marshal(cols); err != nil {
			return nil, err
		}
	}
	return line, nil
}

func moveMetric(todo []move, name string) string {
	for _, m := range todo {
		if m.metric != nil {
			name = m.metric(name)
		}
	}
	return name
}
