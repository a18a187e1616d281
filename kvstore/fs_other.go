//go:build !linux

package kvstore

import "os"

// syncData is a full sync: on macOS Go makes it F_FULLFSYNC, which the disk honours.
func syncData(f *os.File) error { return f.Sync() }
