package recording

import "reflect"

// nested is a field that holds other structs: *TCPInfo, []FDRef. One of them at a time is read into
// elem, or written from it.
type nested struct {
	field   reflect.Value
	elem    reflect.Value
	columns []column // of elem
	list    reflect.Value
}

// nestedIn is nil for other fields.
func nestedIn(field reflect.Value) *nested {
	if k := field.Kind(); k != reflect.Pointer && k != reflect.Slice || field.Type().Elem().Kind() != reflect.Struct {
		return nil
	}
	n := &nested{field: field, elem: reflect.New(field.Type().Elem()).Elem()}
	columns, ok := columnsOf(n.elem)
	if !ok {
		return nil
	}
	n.columns = columns
	if field.Kind() == reflect.Slice {
		n.list = reflect.New(field.Type()).Elem()
	}
	return n
}

func (n *nested) empty() bool {
	if n.isList() {
		return n.field.Len() == 0
	}
	return n.field.IsNil()
}

func (n *nested) isList() bool { return n.list.IsValid() }

func (r *rowReader) nested(n *nested) bool {
	if n.isList() {
		return r.structs(n)
	}
	if !r.elem(n) {
		return false
	}
	p := reflect.New(n.elem.Type())
	p.Elem().Set(n.elem)
	n.field.Set(p)
	return true
}

func (r *rowReader) elem(n *nested) bool {
	n.elem.SetZero()
	return r.object(n.columns)
}

// structs reads into one list for all rows, and gives the row a copy without room to spare.
func (r *rowReader) structs(n *nested) bool {
	if !r.next('[') {
		return false
	}
	n.list.SetLen(0)
	for !r.next(']') {
		if n.list.Len() > 0 && !r.next(',') || !r.elem(n) {
			return false
		}
		n.list.Set(reflect.Append(n.list, n.elem))
	}
	out := reflect.MakeSlice(n.field.Type(), n.list.Len(), n.list.Len())
	reflect.Copy(out, n.list)
	n.field.Set(out)
	return true
}

func appendNested(b []byte, n *nested) (_ []byte, ok bool) {
	if n.field.IsNil() {
		return append(b, "null"...), true
	}
	if !n.isList() {
		n.elem.Set(n.field.Elem())
		return appendColumns(b, n.columns)
	}
	b = append(b, '[')
	for i := range n.field.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		n.elem.Set(n.field.Index(i))
		if b, ok = appendColumns(b, n.columns); !ok {
			return b, false
		}
	}
	return append(b, ']'), true
}
