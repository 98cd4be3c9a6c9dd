package streams

// Join adds the streams of one host of several to those of the others; each is called with
// its host, as two may watch a stream of one name.
func Join(all, more *Data, host string) *Data {
	if more == nil {
		return all
	}
	if all == nil {
		all = &Data{Rows: []Row{}, Details: []Detail{}, Groups: []Group{}, SparkSeconds: more.SparkSeconds}
	}
	on := func(name string) string { return name + " on " + host }
	for _, r := range more.Rows {
		r.ID, r.Name = on(r.ID), on(r.Name)
		all.Rows = append(all.Rows, r)
	}
	for _, d := range more.Details {
		d.ID = on(d.ID)
		all.Details = append(all.Details, d)
	}
	for _, g := range more.Groups {
		g.Name = on(g.Name)
		for i := range g.IDs {
			g.IDs[i] = on(g.IDs[i])
		}
		all.Groups = append(all.Groups, g)
	}
	all.Total += more.Total
	return all
}
