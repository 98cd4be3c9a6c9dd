package rtp

// byDue holds the senders, whose packet is due first on top.
type byDue []*sender

func (o byDue) Len() int           { return len(o) }
func (o byDue) Less(i, j int) bool { return o[i].due() < o[j].due() }
func (o byDue) Swap(i, j int)      { o[i], o[j] = o[j], o[i] }
func (o *byDue) Push(x any)        { *o = append(*o, x.(*sender)) }
func (o *byDue) Pop() any {
	last := (*o)[len(*o)-1]
	*o = (*o)[:len(*o)-1]
	return last
}
