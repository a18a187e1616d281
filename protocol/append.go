// Package protocol knows the Redis serialization protocol, RESP2 and RESP3, as bytes: no sockets, no clock.
//
// append.go holds the encoders. Each appends one wire item to the caller's slice and returns it, as the append builtin
// does: no writer, no formatting package, no allocation beyond the growth of the slice. Aggregates are written as a header
// followed by the caller's own elements, since a server knows the count before it has the elements.
package protocol

import (
	"math"
	"strconv"
)

// AppendCommand appends a request: an array of bulk strings, as every client sends it.
func AppendCommand(dst []byte, args ...string) []byte {
	dst = AppendArray(dst, len(args))
	for _, a := range args {
		dst = AppendBulkString(dst, a)
	}
	return dst
}

// AppendCommandBytes appends a request whose arguments are byte slices.
func AppendCommandBytes(dst []byte, args ...[]byte) []byte {
	dst = AppendArray(dst, len(args))
	for _, a := range args {
		dst = AppendBulk(dst, a)
	}
	return dst
}

// AppendArray appends the header of an array of n elements.
func AppendArray(dst []byte, n int) []byte { return appendHeader(dst, '*', int64(n)) }

// AppendMap appends the header of a RESP3 map of n pairs: 2n elements follow.
func AppendMap(dst []byte, n int) []byte { return appendHeader(dst, '%', int64(n)) }

// AppendSet appends the header of a RESP3 set of n elements.
func AppendSet(dst []byte, n int) []byte { return appendHeader(dst, '~', int64(n)) }

// AppendPush appends the header of a RESP3 push message of n elements.
func AppendPush(dst []byte, n int) []byte { return appendHeader(dst, '>', int64(n)) }

// AppendInt appends an integer reply.
func AppendInt(dst []byte, n int64) []byte { return appendHeader(dst, ':', n) }

// AppendBulk appends a bulk string.
func AppendBulk(dst, b []byte) []byte {
	dst = appendHeader(dst, '$', int64(len(b)))
	dst = append(dst, b...)
	return append(dst, '\r', '\n')
}

// AppendBulkString appends a bulk string.
func AppendBulkString(dst []byte, s string) []byte {
	dst = appendHeader(dst, '$', int64(len(s)))
	dst = append(dst, s...)
	return append(dst, '\r', '\n')
}

// AppendBulkInt appends an integer as a bulk string, as a request carries it.
func AppendBulkInt(dst []byte, n int64) []byte {
	var digits [20]byte
	return AppendBulk(dst, strconv.AppendInt(digits[:0], n, 10))
}

// AppendSimple appends a simple string. Line ends in s would break the framing, so each becomes a space.
func AppendSimple(dst []byte, s string) []byte { return appendLine(dst, '+', s) }

// AppendError appends an error reply; msg begins with the code, as in "ERR no such key". Line ends become spaces.
func AppendError(dst []byte, msg string) []byte { return appendLine(dst, '-', msg) }

// AppendNull appends the RESP3 null.
func AppendNull(dst []byte) []byte { return append(dst, "_\r\n"...) }

// AppendNullBulk appends the RESP2 null bulk string.
func AppendNullBulk(dst []byte) []byte { return append(dst, "$-1\r\n"...) }

// AppendNullArray appends the RESP2 null array.
func AppendNullArray(dst []byte) []byte { return append(dst, "*-1\r\n"...) }

// AppendBool appends a RESP3 boolean.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, "#t\r\n"...)
	}
	return append(dst, "#f\r\n"...)
}

// AppendDouble appends a RESP3 double, written as AppendFloat writes it.
func AppendDouble(dst []byte, f float64) []byte {
	dst = append(dst, ',')
	dst = AppendFloat(dst, f)
	return append(dst, '\r', '\n')
}

// AppendBigNumber appends a RESP3 big number given as decimal digits.
func AppendBigNumber(dst []byte, digits string) []byte { return appendLine(dst, '(', digits) }

// AppendVerbatim appends a RESP3 verbatim string; format has three letters, as in "txt".
func AppendVerbatim(dst []byte, format, s string) []byte {
	dst = appendHeader(dst, '=', int64(len(s)+4))
	dst = append(dst, format[:3]...)
	dst = append(dst, ':')
	dst = append(dst, s...)
	return append(dst, '\r', '\n')
}

// AppendFloat appends a number as Redis prints a score: whole numbers without a point, others with 17 significant digits at
// most, "inf", "-inf" and "nan" for the rest.
func AppendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		if f == 0 && math.Signbit(f) {
			return append(dst, "-0"...)
		}
		return strconv.AppendInt(dst, int64(f), 10)
	}
	return strconv.AppendFloat(dst, f, 'g', 17, 64)
}

// appendHeader appends a type byte, a number and CRLF. Numbers below 10 and below 100 are nearly all of the traffic.
func appendHeader(dst []byte, kind byte, n int64) []byte {
	switch {
	case uint64(n) < 10:
		return append(dst, kind, byte('0'+n), '\r', '\n')
	case uint64(n) < 100:
		return append(dst, kind, byte('0'+n/10), byte('0'+n%10), '\r', '\n')
	}
	dst = append(dst, kind)
	dst = strconv.AppendInt(dst, n, 10)
	return append(dst, '\r', '\n')
}

func appendLine(dst []byte, kind byte, s string) []byte {
	dst = append(dst, kind)
	start := len(dst)
	dst = append(dst, s...)
	for i := start; i < len(dst); i++ {
		if dst[i] == '\r' || dst[i] == '\n' {
			dst[i] = ' '
		}
	}
	return append(dst, '\r', '\n')
}
