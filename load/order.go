package load

// byReady holds the connections that wait for their next request, the first one on top: a binary heap.
type byReady struct {
	all     []*conn
	running bool
}

func (o *byReady) add(c *conn, p *Plan) {
	o.running = true
	c.readyAt, c.heapAt = c.ready(p), len(o.all)
	o.all = append(o.all, c)
	o.up(c.heapAt)
}

func (o *byReady) first() *conn {
	if len(o.all) == 0 {
		return nil
	}
	return o.all[0]
}

func (o *byReady) remove(c *conn) {
	i, last := c.heapAt, len(o.all)-1
	if i < 0 {
		return
	}
	o.swap(i, last)
	o.all, c.heapAt = o.all[:last], -1
	if i < last {
		o.down(i)
		o.up(i)
	}
}

func (o *byReady) up(i int) {
	for i > 0 && o.all[i].readyAt < o.all[(i-1)/2].readyAt {
		o.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (o *byReady) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(o.all) {
			return
		}
		if child+1 < len(o.all) && o.all[child+1].readyAt < o.all[child].readyAt {
			child++
		}
		if o.all[i].readyAt <= o.all[child].readyAt {
			return
		}
		o.swap(i, child)
		i = child
	}
}

func (o *byReady) swap(i, j int) {
	o.all[i], o.all[j] = o.all[j], o.all[i]
	o.all[i].heapAt, o.all[j].heapAt = i, j
}
