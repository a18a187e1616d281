package protocol

import (
	"bytes"
	"encoding/binary"
)

// command_count.go counts commands for a server that answers all of them alike. A load repeats a few framings: the bytes of
// a command that are no argument, "*2\r\n$3\r\n", "\r\n$16\r\n", "\r\n". A command that has the bytes of a known framing at
// its offsets ends where the framing does, so it is compared, four words or so, and not parsed.

// CommandCounter counts commands. It remembers the last framings, and may serve any number of connections in turn. The zero
// value is ready.
type CommandCounter struct {
	known [4]framing
	next  int // to be replaced
	args  [][]byte
}

type framing struct {
	size  int // of the command in bytes; 0: not set
	marks []mark
}

// mark is what eight bytes of the command must be.
type mark struct {
	at         int
	mask, word uint64
}

// maxFramed is the most arguments, and maxFramedSize the longest command, whose framing is remembered.
const (
	maxFramed     = 16
	maxFramedSize = 64 << 10
)

// Count is Next of p for who does not need the arguments: it gives the number of complete commands at the start of buf and
// the bytes they take, those of empty lines and empty arrays included. The rest, buf[used:], has to be given again with more
// behind it. The commands in front of an error are counted.
func (c *CommandCounter) Count(p *CommandParser, buf []byte) (used, n int, err error) {
	for used < len(buf) {
		if !p.partial && p.scanned == 0 {
			if size, k := c.repeats(buf[used:]); k > 0 {
				used += size
				n += k
				continue
			}
		}
		k, args, err := p.Next(buf[used:], c.args[:0])
		c.args = args
		if err != nil || k == 0 {
			return used, n, err
		}
		if len(args) > 0 {
			n++
			c.learn(buf[used:used+k], len(args))
		}
		used += k
	}
	return used, n, nil
}

// repeats counts the commands at the start of buf that have one known framing, and their bytes.
func (c *CommandCounter) repeats(buf []byte) (size, n int) {
	for i := range c.known {
		f := &c.known[i]
		for f.size > 0 && f.size <= len(buf)-size && f.fits(buf[size:size+f.size]) {
			size += f.size
			n++
		}
		if n > 0 {
			break
		}
	}
	return size, n
}

func (f *framing) fits(command []byte) bool {
	for i := range f.marks {
		m := &f.marks[i]
		if (binary.LittleEndian.Uint64(command[m.at:])^m.word)&m.mask != 0 {
			return false
		}
	}
	return true
}

// learn remembers the framing of a command with a number of arguments.
func (c *CommandCounter) learn(command []byte, args int) {
	if command[0] != '*' || len(command) < 8 || len(command) > maxFramedSize || args > maxFramed {
		return
	}
	f := &c.known[c.next]
	c.next = (c.next + 1) % len(c.known)
	f.size, f.marks = len(command), f.marks[:0]
	head := bytes.IndexByte(command, '\r') + 2
	for from := 0; args > 0; args-- {
		end := head + bytes.IndexByte(command[head:], '\r') + 2
		length, _ := ParseInt(command[head+1 : end-2])
		f.mark(command, from, end)
		from = end + int(length)
		head = from + 2
	}
	f.mark(command, len(command)-2, len(command))
}

// mark adds the bytes from one offset to another.
func (f *framing) mark(command []byte, from, to int) {
	for ; from < to; from += 8 {
		m := mark{at: min(from, len(command)-8)}
		for i := from; i < min(from+8, to); i++ {
			m.mask |= 0xff << (8 * (i - m.at))
		}
		m.word = binary.LittleEndian.Uint64(command[m.at:]) & m.mask
		f.marks = append(f.marks, m)
	}
}
