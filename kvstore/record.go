package kvstore

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// record.go is the format of the operation log. A file begins with logMagic. A record is
//
//	bytes 0-3   length of the payload, little endian, at least 1
//	bytes 4-7   CRC-32C of bytes 0-3 and the payload
//	payload     op code, number of arguments, and each argument's length and bytes; numbers are uvarints
//
// A length of 0 ends the log: a file may be filled up with zeros in advance, which makes syncs cheaper. What follows
// the last record is cut off at the next start. An opMark record has 8 bytes instead of arguments: the offset up to which
// the file had been synced when the record was written. Damage below the highest mark cannot come from a crash.

const (
	logMagic   = "KVSLOG1\n"
	recordRoom = 8 // bytes in front of a payload
	maxPayload = 1<<31 - 1
)

// op is the code of a change in the operation log. Codes are written to disk: never change one, only add.
type op byte

const (
	opMark op = iota
	opSet
	opDel
	opMSet
	opAppend
	opRSet
	opRDel
	opRMod
	opHSet
	opHDel
	opHMod
	opHSetFields
	opHDelField
	opLPush
	opRPush
	opLPop
	opRPop
	opSAdd
	opSRem
	opZAdd
	opZRem
	opXAdd
	opFlush
	opEnd // the first code that is not known
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendRecord appends the record of one change.
func appendRecord(dst []byte, code op, args ...[]byte) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0, byte(code))
	dst = binary.AppendUvarint(dst, uint64(len(args)))
	for _, a := range args {
		dst = binary.AppendUvarint(dst, uint64(len(a)))
		dst = append(dst, a...)
	}
	sealRecord(dst[start:])
	return dst
}

// appendMark appends an opMark record.
func appendMark(dst []byte, synced int64) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0, byte(opMark))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(synced))
	sealRecord(dst[start:])
	return dst
}

// wholeRecords gives the records at the start of b that take at most n bytes together.
func wholeRecords(b []byte, n int) []byte {
	end := 0
	for end < len(b) {
		next := end + recordRoom + int(binary.LittleEndian.Uint32(b[end:]))
		if next > n {
			break
		}
		end = next
	}
	return b[:end]
}

func sealRecord(rec []byte) {
	binary.LittleEndian.PutUint32(rec, uint32(len(rec)-recordRoom))
	binary.LittleEndian.PutUint32(rec[4:], recordSum(rec))
}

// recordSum is the checksum of a whole record.
func recordSum(rec []byte) uint32 {
	sum := crc32.Update(0, castagnoli, rec[:4])
	return crc32.Update(sum, castagnoli, rec[recordRoom:])
}

var (
	errNewer   = errors.New("a record of a kind that this version does not know")
	errPayload = errors.New("a record whose checksum is right and whose contents are not")
)

// parsePayload splits a payload; the arguments are slices of it.
func parsePayload(payload []byte, args [][]byte) (code op, out [][]byte, err error) {
	code, rest := op(payload[0]), payload[1:]
	if code >= opEnd {
		return 0, args, errNewer
	}
	if code == opMark {
		if len(rest) != 8 {
			return 0, args, errPayload
		}
		return code, append(args, rest), nil
	}
	count, k := binary.Uvarint(rest)
	if k <= 0 || count > uint64(len(rest)) {
		return 0, args, errPayload
	}
	rest = rest[k:]
	for range count {
		n, k := binary.Uvarint(rest)
		if k <= 0 || n > uint64(len(rest)-k) {
			return 0, args, errPayload
		}
		args = append(args, rest[k:k+int(n)])
		rest = rest[k+int(n):]
	}
	if len(rest) != 0 || !rightCount(code, len(args)) {
		return 0, args, errPayload
	}
	return code, args, nil
}

// rightCount tells whether n arguments are what a change of this kind has.
func rightCount(code op, n int) bool {
	switch code {
	case opFlush:
		return n == 0
	case opDel, opRDel, opHDel, opLPop, opRPop:
		return n == 1
	case opSet, opAppend, opRSet, opRMod, opHSet, opHMod, opHDelField, opSAdd, opSRem, opZRem:
		return n == 2
	case opZAdd:
		return n == 3
	case opMSet:
		return n >= 2 && n%2 == 0
	case opHSetFields:
		return n >= 3 && n%2 == 1
	case opXAdd:
		return n >= 2 && n%2 == 0
	}
	return n >= 2 // LPUSH, RPUSH
}
