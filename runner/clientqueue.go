package runner

// clientQueue is first in, first out; a connection stands in it at most once, which its mark tells.
type clientQueue struct {
	mark    uint8 // the bit of client.queued that is this queue's
	ring    []*client
	head, n int
}

func (q *clientQueue) push(c *client) {
	if c.queued&q.mark != 0 {
		return
	}
	c.queued |= q.mark
	if q.n == len(q.ring) {
		grown := make([]*client, max(2*q.n, 16))
		for i := range q.n {
			grown[i] = q.ring[(q.head+i)%q.n]
		}
		q.ring, q.head = grown, 0
	}
	q.ring[(q.head+q.n)%len(q.ring)] = c
	q.n++
}

// pop returns nil when the queue is empty.
func (q *clientQueue) pop() *client {
	if q.n == 0 {
		return nil
	}
	c := q.ring[q.head]
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	c.queued &^= q.mark
	return c
}
