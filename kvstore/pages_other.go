//go:build !linux

package kvstore

func wantHugePages([]byte) {}
