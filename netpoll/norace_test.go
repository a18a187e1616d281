//go:build !race

package netpoll

const poolsForget = false
