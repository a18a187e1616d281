package netpoll

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"syscall"
)

// sourceError words a failed bind. An address that this machine does not have fails with the errno that also says that
// no local port is free, which is worth waiting for; this is not.
func sourceError(src netip.Addr, err error) error {
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return fmt.Errorf("source address %v is none of this machine's", src)
	}
	return os.NewSyscallError("bind", err)
}

// familyError is an address that cannot reach the server's: one is IPv4 and the other IPv6.
func familyError(src netip.Addr) error {
	return fmt.Errorf("source address %v does not fit the server's address family", src)
}
