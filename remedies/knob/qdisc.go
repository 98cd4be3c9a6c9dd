package knob

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"snag/remedies/plan"
)

// qdisc sets one option of a queue discipline, by its name, or with no name puts a
// whole one in its place. Only kinds of the table are made or replaced: any other could
// not be put back as it was.
type qdisc struct{}

func (qdisc) Valid(t plan.Target, value string) error {
	if err := onDevice(t); err != nil {
		return err
	}
	place, err := placeOf(t)
	if err != nil {
		return err
	}
	if t.Name == "" {
		q, err := parseQdisc(value)
		switch {
		case err != nil:
			return err
		case q.isDefault && place.parent != rootPlace:
			return fmt.Errorf("%q: only the root has a default", value)
		case q.name == "mq" && place.parent != rootPlace:
			return errors.New("mq is for the root alone")
		case q.kind != nil && q.kind.encode != nil:
			_, err = q.kind.encode(q.kind, q.values)
		}
		return err
	}
	return validOption(t.Name, value)
}

// validOption reports whether any kind would take a value for an option: which kind is
// there, Write sees.
func validOption(name, value string) error {
	var first error
	for _, k := range qdiscKinds {
		o, ok := k.option(name)
		if !ok || o.kept {
			continue
		}
		_, err := o.parse(value)
		if err == nil {
			return nil
		}
		first = errors.Join(first, fmt.Errorf("%s: %w", k.name, err))
	}
	if first == nil {
		return fmt.Errorf("no qdisc has an option %q that snag sets", name)
	}
	return first
}

// foundQdisc is a target's qdisc and what is around it.
type foundQdisc struct {
	seenQdisc
	root seenQdisc
	all  []seenQdisc
	text qdiscText
	// unknown is why it could not be made again.
	unknown error
}

func (c tcConn) find(t plan.Target) (f foundQdisc, err error) {
	place, err := placeOf(t)
	if err != nil {
		return f, err
	}
	if f.all, err = c.all(); err != nil {
		return f, err
	}
	hasRoot := false
	for _, q := range f.all {
		if q.parent == rootPlace {
			f.root, hasRoot = q, true
		}
	}
	if place.queue >= 0 {
		if !hasRoot || f.root.kind != "mq" {
			return f, fmt.Errorf("find %s: the root of %s is %s, which has no queues of its own (%w)", t, t.Device, f.root.kind, ErrAbsent)
		}
		place.parent = f.root.handle | uint32(place.queue+1)
	}
	for _, q := range f.all {
		if q.parent == place.parent {
			f.seenQdisc = q
			f.text, f.unknown = textOf(q)
			return f, nil
		}
	}
	return f, fmt.Errorf("find %s: %s has no qdisc there (one that a class made for itself is not shown) (%w)", t, t.Device, ErrAbsent)
}

// textOf reads a qdisc's options; the error says why it could not be made again.
func textOf(q seenQdisc) (qdiscText, error) {
	text := qdiscText{name: q.kind, isDefault: q.parent == rootPlace && q.handle == 0}
	k, ok := qdiscKindOf(q.kind)
	if !ok {
		return text, fmt.Errorf("its kind is %s, which snag can't make again: it knows %s", q.kind, strings.Join(qdiscNames(), ", "))
	}
	text.kind = k
	var err error
	text.values, err = k.decodeOptions(q.options)
	return text, err
}

func (qdisc) Read(h Host, t plan.Target) (value string, err error) {
	err = h.withTC(t, func(c tcConn) error {
		f, err := c.find(t)
		if err != nil {
			return err
		}
		if t.Name == "" {
			if err := f.replaceable(c); err != nil {
				return fmt.Errorf("read %s: %w", t, err)
			}
			value = f.text.text()
			return nil
		}
		o, v, err := f.option(t)
		if err == nil {
			value = o.word(v)
		}
		return err
	})
	return value, err
}

// option is the one that a target names, and its value.
func (f *foundQdisc) option(t plan.Target) (*qdiscOption, uint64, error) {
	if f.text.kind != nil {
		if o, ok := f.text.kind.option(t.Name); ok && !o.kept {
			if v := f.text.values[t.Name]; len(v) == 1 {
				return o, v[0], nil
			}
		}
	}
	return nil, 0, fmt.Errorf("find %s: the qdisc there is %s, which has no such option that snag sets (%w)", t, f.kind, ErrAbsent)
}

// replaceable reports whether the qdisc can be put back after another took its place.
func (f *foundQdisc) replaceable(c tcConn) error {
	if f.text.isDefault {
		return nil // the kernel puts it back itself
	}
	if f.unknown != nil {
		return f.unknown
	}
	if f.handle == 0 {
		return nil
	}
	for _, q := range f.all {
		if q.parent>>16 == f.handle>>16 && q.parent < ingressPlace && (f.kind != "mq" || q.handle != 0) {
			return fmt.Errorf("it has its own qdisc below it (%s at %s), which would be lost: change it by hand", q.kind, handleText(q.parent))
		}
	}
	filters, err := c.hasFilters(f.handle)
	if err == nil && filters {
		err = fmt.Errorf("qdisc %s has filters, which would be lost: change it by hand", handleText(f.handle))
	}
	return err
}

func (k qdisc) Write(h Host, t plan.Target, value string) error {
	if err := k.Valid(t, value); err != nil {
		return err
	}
	// Out here: it is one of the whole machine, and no other namespace shows it.
	defaultKind, err := readFile(filepath.Join(h.Proc, "sys/net/core/default_qdisc"))
	if err != nil && !errors.Is(err, ErrAbsent) {
		return err
	}
	return h.withTC(t, func(c tcConn) error {
		f, err := c.find(t)
		if err != nil {
			return err
		}
		if t.Name == "" {
			err = c.replace(f, t, value, defaultKind)
		} else {
			err = c.setOption(f, t, value, defaultKind)
		}
		return refused("set", t, err)
	})
}

// replace puts a whole qdisc in the place of one that could be put back.
func (c tcConn) replace(f foundQdisc, t plan.Target, value, defaultKind string) error {
	if err := f.replaceable(c); err != nil {
		return err
	}
	q, err := parseQdisc(value)
	if err != nil {
		return err
	}
	if q.isDefault {
		if f.text.isDefault {
			return nil
		}
		return c.remove(f.seenQdisc)
	}
	if f, err = c.ownRoot(f, t, defaultKind); err != nil {
		return err
	}
	return c.make(f, f.parent, q.kind, q.values)
}

// setOption sets one option. A qdisc that nobody made can't be changed (sch_api.c, "It
// may be default qdisc, ignore it"): one like it is made.
func (c tcConn) setOption(f foundQdisc, t plan.Target, value, defaultKind string) error {
	o, _, err := f.option(t)
	if err != nil {
		return err
	}
	v, err := o.parse(value)
	if err != nil {
		return err
	}
	k := f.text.kind
	values := qdiscValues{}
	for name, old := range f.text.values {
		values[name] = old
	}
	values[t.Name] = []uint64{v}
	if f.handle != 0 && !o.creation {
		if k.encode == nil { // what is not sent stays
			values = qdiscValues{t.Name: {v}}
		} else if f.unknown != nil {
			return f.unknown
		}
		return c.change(f.seenQdisc, k, values)
	}
	if f.unknown != nil {
		return f.unknown
	}
	if err := f.replaceable(c); err != nil {
		return err
	}
	if f, err = c.ownRoot(f, t, defaultKind); err != nil {
		return err
	}
	return c.make(f, f.parent, k, values)
}

// ownRoot gives the root mq a handle where a queue's qdisc is to be made and it has
// none: nothing can be hung below the kernel's own (handle 0). Its queues get the
// default qdisc, which is what they have, unless the default was changed since.
func (c tcConn) ownRoot(f foundQdisc, t plan.Target, defaultKind string) (foundQdisc, error) {
	if f.parent == rootPlace || f.parent>>16 != 0 {
		return f, nil
	}
	for _, q := range f.all {
		if q.parent != rootPlace && q.parent>>16 == 0 && q.kind != defaultKind {
			return f, fmt.Errorf("mq must be made again for it, and queue %d of %s would get %q (net.core.default_qdisc) in place of %s: change it by hand",
				q.parent-1, t.Device, defaultKind, q.kind)
		}
	}
	mq, _ := qdiscKindOf("mq")
	if err := c.make(f, rootPlace, mq, nil); err != nil {
		return f, fmt.Errorf("make mq again on %s: %w", t.Device, err)
	}
	return c.find(t)
}

// Same compares numbers with their units and by how the kernel rounds.
func (qdisc) Same(t plan.Target, a, b string) bool {
	if t.Name == "" {
		return sameQdisc(a, b)
	}
	for _, k := range qdiscKinds {
		o, ok := k.option(t.Name)
		if !ok {
			continue
		}
		x, err1 := o.parse(a)
		y, err2 := o.parse(b)
		if err1 == nil && err2 == nil {
			return o.near(x, y)
		}
	}
	return false
}
