package load

import "container/heap"

// byReady holds the connections that wait for their next request, the first one on top.
type byReady struct {
	all     []*conn
	plan    *Plan
	running bool
}

func (o *byReady) Len() int           { return len(o.all) }
func (o *byReady) Less(i, j int) bool { return o.all[i].ready(o.plan) < o.all[j].ready(o.plan) }
func (o *byReady) Swap(i, j int) {
	o.all[i], o.all[j] = o.all[j], o.all[i]
	o.all[i].heapAt, o.all[j].heapAt = i, j
}
func (o *byReady) Push(x any) {
	c := x.(*conn)
	c.heapAt = len(o.all)
	o.all = append(o.all, c)
}

func (o *byReady) Pop() any {
	c := o.all[len(o.all)-1]
	o.all, c.heapAt = o.all[:len(o.all)-1], -1
	return c
}

func (o *byReady) add(c *conn, p *Plan) {
	o.plan, o.running = p, true
	heap.Push(o, c)
}

func (o *byReady) first() *conn {
	if len(o.all) == 0 {
		return nil
	}
	return o.all[0]
}

func (o *byReady) remove(c *conn) {
	if c.heapAt >= 0 {
		heap.Remove(o, c.heapAt)
	}
}
