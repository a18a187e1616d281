package kvstore

import "encoding/binary"

// object.go finds the lists, sets, hashes, sorted sets and streams behind plain keys. They are kept simply, as Go values:
// the suite of redis-benchmark has one key of each.

// object is a *list, *set, *hash, *zset or *stream.
type object interface{ header() *objectHeader }

// objectHeader is what all objects have.
type objectHeader struct {
	epoch uint64 // the rewrite in whose snapshot the object is, or will be when it has been walked
	walk  *walk  // nil most of the time
}

func (h *objectHeader) header() *objectHeader { return h }

func objectNumber(value []byte) uint64 { return binary.LittleEndian.Uint64(value) }

// object gives the object of a plain key; there tells whether the key exists, also as a string (x is nil then).
func (s *Server) object(key []byte) (x object, there bool) {
	rec := s.store.plain.get(key)
	if rec == nil {
		return nil, false
	}
	value, object := recordValue(rec)
	if !object {
		return nil, true
	}
	return s.store.objects.all[objectNumber(value)], true
}

// readObject gives the object of a key, the zero T when the key is absent. ok is false when it is of another type: the
// error is sent.
func readObject[T object](s *Server, key []byte) (x T, ok bool) {
	found, there := s.object(key)
	if !there {
		return x, true
	}
	if x, ok = found.(T); !ok {
		s.fail(errWrongType)
	}
	return x, ok
}

// objectOf is readObject that makes an object for an absent key.
func objectOf[T object](s *Server, key []byte, make func() T) (x T, ok bool) {
	found, there := s.object(key)
	if there {
		if x, ok = found.(T); !ok {
			s.fail(errWrongType)
		}
		return x, ok
	}
	x = make()
	var number [8]byte
	binary.LittleEndian.PutUint64(number[:], s.store.objects.add(x))
	s.store.plain.put(key, number[:], true)
	return x, true
}

func typeName(x object) string {
	switch x.(type) {
	case *hash:
		return "hash"
	case *list:
		return "list"
	case *set:
		return "set"
	case *zset:
		return "zset"
	}
	return "stream"
}
