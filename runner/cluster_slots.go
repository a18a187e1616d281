package runner

import (
	"bytes"
	"sync"
)

// A cluster's keys are spread over slotCount slots by CRC16 of the key, or of what stands between
// the first "{" and the next "}" when that is not empty.

const slotCount = 16384

// crc16Table is of the polynomial x¹⁶+x¹²+x⁵+1 (XMODEM), high bit first.
var crc16Table = func() (t [256]uint16) {
	for i := range t {
		crc := uint16(i) << 8
		for range 8 {
			carry := crc&0x8000 != 0
			if crc <<= 1; carry {
				crc ^= 0x1021
			}
		}
		t[i] = crc
	}
	return t
}()

func crc16(b []byte) (crc uint16) {
	for _, c := range b {
		crc = crc<<8 ^ crc16Table[byte(crc>>8)^c]
	}
	return crc
}

// keySlot is the slot of a key.
func keySlot(key []byte) uint16 {
	if open := bytes.IndexByte(key, '{'); open >= 0 {
		if n := bytes.IndexByte(key[open+1:], '}'); n > 0 {
			key = key[open+1 : open+1+n]
		}
	}
	return crc16(key) % slotCount
}

// slotTag is what stands for {tag} in a request: a hash tag of one to three characters in braces,
// filled up with "}", as redis-benchmark writes it.
type slotTag [5]byte

const tagAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// slotTags finds the shortest tag of every slot: three characters are enough for all.
var slotTags = sync.OnceValue(func() *[slotCount]slotTag {
	tags := new([slotCount]slotTag)
	missing := slotCount
	var text [3]byte
	var extend func(n, length int)
	extend = func(n, length int) {
		for i := range len(tagAlphabet) {
			text[n] = tagAlphabet[i]
			if n+1 < length {
				extend(n+1, length)
				continue
			}
			if t := &tags[crc16(text[:length])%slotCount]; t[0] == 0 {
				*t = slotTag{'{', '}', '}', '}', '}'}
				copy(t[1:], text[:length])
				missing--
			}
		}
	}
	for length := 1; missing > 0 && length <= len(text); length++ {
		extend(0, length)
	}
	return tags
})
