package kvstore

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pages.go takes memory for slabs and table segments from the system, outside the Go heap: the collector neither scans nor
// counts it, and it is mapped in huge pages where the system offers them. A look-up in a large store is two or three
// accesses to places that no cache has; with pages of 4 KiB each would cost a walk of the page tables as well.
// Memory that is mapped and not touched yet is not resident.

const (
	hugePage    = 2 << 20
	mappingSize = 64 << 20
)

// pageSource hands out pages of 1 MiB until release.
type pageSource struct {
	mappings [][]byte
	rest     []byte // of the last mapping, aligned to hugePage
}

// page gives 1 MiB of zeros. Like Go's own heap it ends the process when the system has no memory: what is stored cannot
// be kept then.
func (p *pageSource) page() *[pageBytes]byte {
	if len(p.rest) < pageBytes {
		p.grow()
	}
	page := (*[pageBytes]byte)(p.rest)
	p.rest = p.rest[pageBytes:]
	return page
}

func (p *pageSource) grow() {
	m, err := unix.Mmap(-1, 0, mappingSize+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kvstore: out of memory:", os.NewSyscallError("mmap", err))
		os.Exit(2)
	}
	p.mappings = append(p.mappings, m)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(m)))) & (hugePage - 1)
	p.rest = m[skip : skip+mappingSize]
	wantHugePages(p.rest)
}

// release gives everything back. Nothing that was handed out may be used afterwards.
func (p *pageSource) release() {
	for _, m := range p.mappings {
		unix.Munmap(m) // cannot fail for a mapping of ours
	}
	p.mappings, p.rest = nil, nil
}
