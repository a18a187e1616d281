package workload

import "sync"

// Values are never made one by one: each is a slice of a pool that is read as a ring, so that a value of a gigabyte costs no more
// memory than the pool, and a comparison with a reply is a comparison of memory. A pool is made at its first use.

const (
	// refMin is the size from which a value or a literal goes to writev by reference instead of being copied.
	refMin = 16 << 10
	// poolPeriod is the length of the ring that values of bench mode are cut from.
	poolPeriod = 1 << 20
	// payloadPeriod is the period of redis-benchmark's payload generator: bits 16 to 21 of a linear congruence modulo 2^32
	// depend on its low 22 bits only.
	payloadPeriod = 1 << 22
)

// pool is a ring of bytes. Its first refMin bytes are repeated behind its end, so that a small value is always one slice.
type pool struct {
	b      []byte // period + refMin bytes
	period int    // a power of two
}

func newPool(period int, fill func(b []byte)) *pool {
	b := make([]byte, period+refMin)
	fill(b[:period])
	copy(b[period:], b[:refMin])
	return &pool{b, period}
}

// at is the longest slice that starts at ring offset off and has at most n bytes; off may be beyond the period.
func (p *pool) at(off, n int) []byte {
	off &= p.period - 1
	return p.b[off:min(off+n, len(p.b))]
}

// appendTo appends n bytes from ring offset off.
func (p *pool) appendTo(dst []byte, off, n int) []byte {
	for n > 0 {
		part := p.at(off, n)
		dst = append(dst, part...)
		off, n = off+len(part), n-len(part)
	}
	return dst
}

// mismatch is the index of the first byte of b that differs from the ring at off; -1 when all are equal.
func (p *pool) mismatch(off int, b []byte) int {
	start := off & (p.period - 1)
	if end := start + len(b); end <= len(p.b) && string(p.b[start:end]) == string(b) {
		return -1
	}
	for done := 0; done < len(b); {
		want := p.at(off+done, len(b)-done)
		got := b[done : done+len(want)]
		if string(want) != string(got) {
			return done + firstDifference(want, got)
		}
		done += len(want)
	}
	return -1
}

// firstDifference is the index of the first byte in which a and b, of the same length, differ; -1 when they are equal.
func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

const printableAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-"

// printablePool holds pseudo-random letters and digits. Its seed is a constant: what one run wrote, any other run can verify.
var printablePool = sync.OnceValue(func() *pool {
	s := newStream(0x7265737062656e63, 0)
	return newPool(poolPeriod, func(b []byte) {
		for i := range b {
			b[i] = printableAlphabet[s.at(uint64(i))>>58]
		}
	})
})

// payloadPool holds the endless payload of redis-benchmark ("VXKeHog…").
var payloadPool = sync.OnceValue(func() *pool {
	return newPool(payloadPeriod, func(b []byte) { fillPayload(b, 0) })
})

// fillPayload writes the payload of redis-benchmark from its byte number skip on.
func fillPayload(b []byte, skip int) {
	state := uint32(1234)
	for range skip % payloadPeriod {
		state = state*1103515245 + 12345
	}
	for i := range b {
		state = state*1103515245 + 12345
		b[i] = '0' + byte(state>>16&63)
	}
}

// valuePool is the pool of values of which a compressor can remove that share.
func valuePool(compressible float64) *pool {
	if compressible <= 0 {
		return printablePool()
	}
	return newCompressiblePool(compressible)
}

// compressibleBlock is the distance in bytes in which the share of compressible bytes is kept.
const compressibleBlock = 256

// newCompressiblePool makes blocks of incompressible bytes, each with a tail of one repeated byte that has the share asked for.
func newCompressiblePool(share float64) *pool {
	s := newStream(0x7265737062656e63, 1)
	random := compressibleBlock - int(share*compressibleBlock)
	return newPool(poolPeriod, func(b []byte) {
		for i := range b {
			b[i] = 'x'
			if i%compressibleBlock < random {
				b[i] = byte(s.at(uint64(i)) >> 56)
			}
		}
	})
}
