//go:build race

package netpoll

// Under the race detector sync.Pool forgets a part of what it is given, so crypto/tls allocates its buffers now and then.
const poolsForget = true
