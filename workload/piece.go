package workload

import "strconv"

// A command is compiled into pieces: runs of constant bytes with, between them, what changes from request to request. All three
// generators (template, keyed, pieces) and the pure functions of Plan start from this one form.

type pieceKind uint8

const (
	pieceLiteral pieceKind = iota // constant bytes
	pieceRing                     // a constant slice of a pool: the payload of redis-benchmark, when it is large
	pieceNumber                   // twelve digits: __rand_int__, __rand_1st__ … __rand_9th__
	pieceTag                      // five bytes that choose the slot of a cluster: {tag}
	pieceKey                      // prefix and decimal number: __key__
	pieceValue                    // the value that belongs to the key: __data__ where a key is known
	pieceColumn                   // a column of the data set's row: __field:name__
	pieceLength                   // the bulk header "$n\r\n" of an argument whose length changes
)

type piece struct {
	kind    pieceKind
	literal []byte // pieceLiteral
	ring    *pool  // pieceRing
	off, n  int    // pieceRing: the slice
	index   int    // pieceNumber: its stream. pieceColumn: the column. pieceLength: the argument
	nth     int    // pieceNumber: which __rand_int__ of the execution it is; -1 for a number that all places share
}

func literalPiece(text string) piece { return piece{kind: pieceLiteral, literal: []byte(text)} }

// command is one kind of request, compiled.
type command struct {
	op       int       // index into Plan.ops
	template int       // its number among all commands of the plan
	pieces   []piece   // the whole request as it goes to the wire
	args     [][]piece // the argument bodies alone, for routing
	size     int       // bytes on the wire; -1 when they change from request to request
	short    int       // bytes on the wire at most, when none of them go by reference; else -1
	miss     bool      // a null reply means that the key is missing
	writes   bool      // it stores the key's value
	known    bool      // the reply must be the key's value
}

// newCommand encodes args as an array of bulk strings.
func newCommand(op int, args [][]piece) command {
	c := command{op: op, args: args}
	c.add(literalPiece("*" + strconv.Itoa(len(args)) + "\r\n"))
	for i, arg := range args {
		if size := fixedSize(arg); size >= 0 {
			c.add(literalPiece("$" + strconv.Itoa(size) + "\r\n"))
		} else {
			c.add(piece{kind: pieceLength, index: i})
		}
		for _, p := range arg {
			c.add(p)
		}
		c.add(literalPiece("\r\n"))
	}
	c.size = fixedSize(c.pieces)
	return c
}

// newInlineCommand is a request that is not an array; it has one argument, the line.
func newInlineCommand(op int, line string) command {
	c := command{op: op, args: [][]piece{{literalPiece(line)}}}
	c.add(literalPiece(line + "\r\n"))
	c.size = fixedSize(c.pieces)
	return c
}

// add appends a piece to the wire form. Short constants grow together; large ones stay shared.
func (c *command) add(p piece) {
	last := len(c.pieces) - 1
	if p.kind != pieceLiteral || last < 0 || c.pieces[last].kind != pieceLiteral ||
		len(p.literal) >= refMin || len(c.pieces[last].literal) >= refMin {
		if p.kind == pieceLiteral && len(p.literal) < refMin {
			p.literal = append([]byte(nil), p.literal...)
		}
		c.pieces = append(c.pieces, p)
		return
	}
	c.pieces[last].literal = append(c.pieces[last].literal, p.literal...)
}

// fixedSize is the number of bytes that the pieces make; -1 when it changes from request to request.
func fixedSize(pieces []piece) int {
	size := 0
	for i := range pieces {
		switch p := &pieces[i]; p.kind {
		case pieceLiteral:
			size += len(p.literal)
		case pieceRing:
			size += p.n
		case pieceNumber:
			size += placeholderLen
		case pieceTag:
			size += len(tagPlaceholder)
		default:
			return -1
		}
	}
	return size
}
