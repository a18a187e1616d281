package kvstore

import "golang.org/x/sys/unix"

// wantHugePages asks for huge pages; a system that has none goes on with small ones.
func wantHugePages(b []byte) { unix.Madvise(b, unix.MADV_HUGEPAGE) }
