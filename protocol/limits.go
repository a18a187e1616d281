package protocol

// Limits of what is accepted from the other side. Each one keeps a broken or hostile peer from costing memory or
// stack; none of them is a guess, its origin is named.
const (
	// MaxBulkLen is the most bytes the body of a bulk string may have, in a reply and in a command, and the most a
	// reply's line may have that tells no length. It is the default of redis.conf's proto-max-bulk-len.
	MaxBulkLen = 512 << 20

	// MaxElements is the most elements one array, set, push, map or attribute may announce; a map or attribute
	// counts pairs. So many integers of one digit, which take four bytes each, fill MaxBulkLen. Only a broken server
	// announces more; hiredis waits for up to 2^32-1. Elements are counted, never stored: they cost no memory.
	MaxElements = MaxBulkLen / 4

	// MaxDepth is the most aggregates that may be open inside each other in one reply. Redis itself nests less
	// than ten deep; the nesting stack of the decoder takes 8 bytes a level.
	MaxDepth = 1024

	// MaxKeptText is the most bytes of a simple string, an error, a double or a big number that the decoder keeps
	// for its Reply. The rest of a longer one is checked and skipped. An error that a person can read fits.
	MaxKeptText = 512

	// MaxInline is the most bytes a server waits for the line end of an inline command or of a length
	// (PROTO_INLINE_MAX_SIZE of Redis).
	MaxInline = 64 << 10

	// MaxArgs is the most arguments one command may have (the limit in Redis's processMultibulkBuffer).
	MaxArgs = 1 << 20
)
