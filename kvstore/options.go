// Package kvstore is a small server that speaks the Redis protocol: three engines over one event loop, an append-only
// operation log that survives a crash, and two allocators. It is the opponent that respbench measures when there is
// nothing else to measure, and it is meant to be a fair one.
//
// One gnet event loop executes every command, so nothing is locked and a batch of requests is parsed in place, executed
// and answered with one write. Work that may block has goroutines of its own: the log's writes and syncs, and the sending to
// clients that read slowly.
package kvstore

import (
	"fmt"
	"time"

	"github.com/rs/zerolog"
)

// Values of Options.Allocator.
const (
	MyPool = "mypool"
	Malloc = "malloc"
)

// Values of Options.Persistence.
const (
	PersistNone        = "none"
	PersistIncremental = "incremental"
)

// Values of Options.Fsync.
const (
	FsyncNo       = "no"
	FsyncEverySec = "everysec"
	FsyncAlways   = "always"
)

// Options say how a server runs. Validate gives empty fields their defaults.
type Options struct {
	Host        string // address to listen on, default 127.0.0.1
	Port        int    // 0 takes a free port
	Null        bool   // answer every command with +OK and store nothing
	Persistence string // none or incremental, default none
	Fsync       string // no, everysec or always, default everysec
	Dir         string // folder of the log, default "."; must exist
	Repair      bool   // cut a damaged log at the damage, keeping a copy
	Strict      bool   // refuse a log with a torn tail instead of cutting it
	Allocator   string // mypool or malloc, default mypool
	RequirePass string // password, empty for none
	MaxClients  int    // default 10000
	Version     string // of the program, for INFO

	Stop <-chan struct{} // closing it ends a replay with ErrStopped; afterwards Server.Stop ends the server. May be nil

	Log zerolog.Logger // messages of the server; the zero value is silent

	nullOnGnet bool  // --null runs on gnet, as it does where there is no epoll
	rewriteMin int64 // the log is not rewritten by itself while it is smaller; default minRewrite
	stepBytes  int   // of a step of a rewrite; default stepBytes
}

// Limits of a connection.
const (
	// MaxQueryBuffer is the largest unexecuted input of one client in bytes (client-query-buffer-limit of Redis).
	MaxQueryBuffer = 1 << 30
	// MaxOutputWait is the output in bytes that may wait for one client to read it. Above it the client's further
	// commands are not executed until it has read half.
	MaxOutputWait = 16 << 20
	// MaxInputWait is the input in bytes that may wait while output waits; above it the client is closed.
	MaxInputWait = 64 << 20
	// lingerTime is how long the last bytes may take to a client that is being closed.
	lingerTime = 10 * time.Second
)

// Validate sets defaults and refuses values that make no sense. It touches nothing outside o.
func (o *Options) Validate() error {
	setDefault(&o.Host, "127.0.0.1")
	setDefault(&o.Persistence, PersistNone)
	setDefault(&o.Fsync, FsyncEverySec)
	setDefault(&o.Dir, ".")
	setDefault(&o.Allocator, MyPool)
	if o.rewriteMin == 0 {
		o.rewriteMin = minRewrite
	}
	if o.stepBytes == 0 {
		o.stepBytes = stepBytes
	}
	if o.MaxClients == 0 {
		o.MaxClients = 10000
	}
	switch {
	case o.Port < 0 || o.Port > 65535:
		return fmt.Errorf("--port %d: must be 0 to 65535", o.Port)
	case o.Persistence != PersistNone && o.Persistence != PersistIncremental:
		return fmt.Errorf("--persistence %q: must be none or incremental", o.Persistence)
	case o.Fsync != FsyncNo && o.Fsync != FsyncEverySec && o.Fsync != FsyncAlways:
		return fmt.Errorf("--fsync %q: must be no, everysec or always", o.Fsync)
	case o.Allocator != MyPool && o.Allocator != Malloc:
		return fmt.Errorf("--allocator %q: must be mypool or malloc", o.Allocator)
	case o.MaxClients < 1:
		return fmt.Errorf("--maxclients %d: must be at least 1", o.MaxClients)
	case o.Null && o.Persistence != PersistNone:
		return fmt.Errorf("--null stores nothing: --persistence must be none")
	case o.Repair && o.Strict:
		return fmt.Errorf("--repair and --strict exclude each other")
	}
	return nil
}

func setDefault(s *string, value string) {
	if *s == "" {
		*s = value
	}
}
