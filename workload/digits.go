package workload

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// Decimal digits without a table and without a loop: a number is split into two halves that sit in lanes of one 64-bit word, and
// each multiplication divides all lanes at once. Sixteen or so instructions make eight digits, and they leave the first-level cache
// to the output template (a table of four-digit groups would take 40 KB of it).

// placeholderLen is the length of __rand_int__ and of the number that takes its place.
const placeholderLen = 12

// maxNumber is the first number that does not fit the placeholder.
const maxNumber = 1_000_000_000_000

const asciiZeros = 0x3030303030303030

// digits8 is v < 10^8 as eight ASCII digits, the first digit in the lowest byte.
func digits8(v uint32) uint64 {
	hi := v / 10000
	x := uint64(hi) | uint64(v-hi*10000)<<32
	hundreds := x * 10486 >> 20 & 0x0000007f_0000007f // v/100 of both four-digit lanes
	x = hundreds | (x-hundreds*100)<<16
	tens := x * 103 >> 10 & 0x000f000f_000f000f // v/10 of all two-digit lanes
	x = tens | (x-tens*10)<<8
	return x | asciiZeros
}

// digits4 is v < 10^4 as four ASCII digits, the first digit in the lowest byte.
func digits4(v uint32) uint32 {
	hundreds := v * 10486 >> 20
	x := hundreds | (v-hundreds*100)<<16
	tens := x * 103 >> 10 & 0x000f000f
	x = tens | (x-tens*10)<<8
	return x | asciiZeros&0xffffffff
}

// putNumber12 writes v < 10^12 as twelve digits with leading zeros at the start of dst.
func putNumber12(dst []byte, v uint64) {
	hi := v / 1e8
	binary.LittleEndian.PutUint32(dst, digits4(uint32(hi)))
	binary.LittleEndian.PutUint64(dst[4:], digits8(uint32(v-hi*1e8)))
}

// appendNumber appends v in decimal.
func appendNumber(dst []byte, v uint64) []byte {
	if v >= 1e8 {
		return strconv.AppendUint(dst, v, 10)
	}
	n := decimalLen(v)
	return binary.LittleEndian.AppendUint64(dst, digits8(uint32(v))>>(8*uint(8-n)&63))[:len(dst)+n]
}

var powersOf10 = [32]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// decimalLen is the number of decimal digits of v; 1 for zero. It has no branch, as nobody could predict it.
func decimalLen(v uint64) int {
	v |= 1
	n := bits.Len64(v) * 1233 >> 12 // 1233/4096 is a little above log10(2): right, or one too many
	_, less := bits.Sub64(v, powersOf10[n&31], 0)
	return n + 1 - int(less)
}
