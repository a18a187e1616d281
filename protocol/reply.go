package protocol

// Kind is the type byte of a value on the wire.
type Kind byte

// The kinds of RESP2 (the first five) and RESP3.
const (
	SimpleString Kind = '+'
	Error        Kind = '-'
	Integer      Kind = ':'
	BulkString   Kind = '$'
	Array        Kind = '*'
	Null         Kind = '_'
	Double       Kind = ','
	Bool         Kind = '#'
	BigNumber    Kind = '('
	BulkError    Kind = '!'
	Verbatim     Kind = '='
	Map          Kind = '%'
	Set          Kind = '~'
	Push         Kind = '>'
	Attribute    Kind = '|'
)

// String gives the type byte as a string.
func (k Kind) String() string { return string(rune(k)) }

// Reply describes a reply without its body: what a load generator has to know of each one.
type Reply struct {
	Kind Kind
	Null bool   // $-1, *-1 or _
	Len  int64  // of '$', '!' and '=' the bytes of the body; the four bytes of a verbatim string's format count
	Int  int64  // of ':' the value; of '#' 1 or 0; of an aggregate the count on the wire (a map counts pairs)
	Text []byte // of '+', '-', '!', ',' and '(' the text, at most MaxKeptText bytes; valid until the decoder's next call
}

// IsError tells whether the reply as a whole is an error. An error inside an array does not make the array one: see
// Decoder.InnerError.
func (r *Reply) IsError() bool { return r.Kind == Error || r.Kind == BulkError }

// isText tells whether the reply has a text.
func (r *Reply) isText() bool {
	switch r.Kind {
	case SimpleString, Error, BulkError, Double, BigNumber:
		return true
	}
	return false
}
