/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What a call has read or written, from one frame of HTTP/2 to the next.
 */

/* The head of a frame is whole; false: it is none. */
static __always_inline bool h2_frame(const struct h2_call *c)
{
	struct h2_dir *d = c->d;
	__u8 type = d->head[3], flags = d->head[4];
	__u32 id = h2_be32(d->head + 5);
	bool is = c->t->h2 == H2_IS;

	if (d->want == H2_HEAD) {
		if (!h2_fits(d->head, !is))
			return false;
		d->want += type == H2_RST_STREAM ? 4 : type == H2_GOAWAY ? 8 : 0;
		if (d->want > H2_HEAD)
			return true; /* and its code */
	}
	d->left = h2_length(d->head) - (d->want - H2_HEAD);
	d->synced = 1;
	d->lost = 0;
	d->frames++;
	if (!is) {
		c->h->frames++;
		if (type != H2_DATA)
			c->h->heads = 1;
		if (c->h->frames >= H2_ENOUGH && c->h->heads && c->h->calls)
			c->t->h2 = H2_IS;
	}
	if (c->in == c->server)
		h2_request(c, type, flags, id);
	else
		h2_answer(c, type, flags, id);
	d->have = 0;
	d->want = H2_HEAD;
	return true;
}

static __always_inline void h2_pass(struct h2_dir *d, __u32 n)
{
	d->at += n;
	d->here -= n;
	d->todo -= n;
	d->seq += n;
}

static __always_inline __u32 h2_there(const struct h2_dir *d)
{
	return d->here < d->todo ? d->here : d->todo;
}

/* Reads on, by a frame or to the end of a piece; 1 ends it. */
static long h2_step(__u32 i, struct h2_call *c)
{
	struct h2_dir *d = c->d;
	__u32 n, have, want;

	if (!d->todo)
		return 1;
	if (!d->here) {
		struct piece p = {};

		if (!d->pieces || bpf_probe_read_user(&p, sizeof(p), (void *)d->pieces))
			goto broken;
		d->pieces += sizeof(p);
		d->at = p.at;
		d->here = p.length;
	}
	n = h2_there(d);
	if (d->left) {
		if (n > d->left)
			n = d->left;
		h2_pass(d, n);
		d->left -= n;
		n = h2_there(d);
	}
	if (d->left || !n)
		return 0;
	have = d->have;
	want = d->want;
	if (have >= want || want > H2_MOST_HEAD)
		goto broken;
	if (n > want - have)
		n = want - have;
	asm volatile("%0 &= 31" : "+r"(have)); /* the verifier has lost sight of their bounds */
	asm volatile("%0 &= 31" : "+r"(n));
	if (bpf_probe_read_user(&d->head[have], n, (void *)d->at))
		goto broken;
	h2_pass(d, n);
	d->have = have + n;
	if (d->have < want || h2_frame(c))
		return 0;
broken:
	d->broken = 1;
	return 1;
}

static __always_inline void h2_adrift(struct h2_dir *d)
{
	d->synced = 0;
	d->have = 0;
	d->want = H2_HEAD;
	d->left = 0;
}
