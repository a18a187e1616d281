package kvstore

import "strings"

// op is the code of a change in the operation log. Codes are written to disk: never change one, only add.
type op byte

const (
	opSet op = 1 + iota
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
)

func (s *Server) logOp(code op, args ...[]byte) {}

func (s *Server) infoPersistence(b *strings.Builder) {}
