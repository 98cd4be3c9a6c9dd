package strace

// called tells who wants to know of a call that came back.
func (t *Trace) called(th *thread, d *descriptor, id uint16, fd int32, begin, end int64, args []byte, l *Line) {
	class := t.calls.class[id]
	c := Called{PID: th.proc.pid, Name: t.calls.names[id], FD: fd, Args: args, Ret: l.Ret, Begin: begin, End: end, Line: t.Counts.Lines}
	if d != nil {
		c.Life, c.Kind, c.Serves = d.id, d.row.Kind, d.side == serves
	}
	if class&(reads|writes) != 0 && l.Known && l.Ret > 0 {
		c.Bytes, c.Read = l.Ret, class&reads != 0
	}
	t.o.Called(&c)
}
