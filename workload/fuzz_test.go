package workload

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"respbench/protocol"
)

// Any words, any cut: what is written is what the requests are, and a command without placeholders is sent word for word.
func FuzzCommand(f *testing.F) {
	f.Add("set\x00k\x00v", uint8(1), uint16(600), int64(0), true)
	f.Add("2\x00set\x00__rand_int__\x00__rand_1st__\x00;\x00get\x00{tag}__data__", uint8(3), uint16(0), int64(100), true)
	f.Add("get\x00__rand_int_\x00___rand_int__\x00_{tag}", uint8(7), uint16(9), int64(12345678901), false)
	f.Add("\xff\x00__field:x__\x00__key__", uint8(255), uint16(65535), int64(-1), true)
	f.Fuzz(func(t *testing.T, text string, cut uint8, ahead uint16, keyspace int64, random bool) {
		args := strings.Split(text, "\x00")
		o := TestOptions{Random: random, Keyspace: keyspace, DataSize: int(cut), Cluster: cut%2 == 0, Sequential: cut%3 == 0, Seed: 1}
		p, err := Command(args, nil, false, o)
		if err != nil || p.Unit() > 100 {
			return
		}
		n := 2*p.Unit() + 1
		want := requestBytes(p, n)
		got := cutStream(t, p, int(ahead), n, func(size int) int { return 1 + (int(cut)*31+len(want))%size })
		if !bytes.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", args, clip(got), clip(want))
		}
		plain := !strings.Contains(text, "__") && !strings.Contains(text, "{tag}") && !slices.Contains(args, ";")
		if _, counted := repeatCount(args[0]); plain && !counted {
			if one := protocol.AppendCommand(nil, args...); !bytes.Equal(want[:len(one)], one) {
				t.Fatalf("%q: %q, want %q", args, clip(want), clip(one))
			}
		}
		parseCommands(t, got)
	})
}

// Texts of options are refused or make a distribution that stays in its range.
func FuzzParseKeyDist(f *testing.F) {
	for _, text := range []string{"uniform", "zipf:0.99", "gaussian:5", "hotspot:20%:80%", "sequential", "zipf:1e-300", "gaussian:1e-9"} {
		f.Add(text, int64(1000), uint64(1))
	}
	f.Fuzz(func(t *testing.T, text string, n int64, seed uint64) {
		d, err := ParseKeyDist(text)
		if err != nil {
			return
		}
		k := d.over(n)
		s := newStream(seed, streamKey)
		for i := range uint64(20) {
			if v := k.draw(s, i, i); v >= k.n {
				t.Fatalf("%q over %d: draw %d is %d", text, n, i, v)
			}
		}
	})
}

// A mix is refused or makes the same bytes however its writes are cut.
func FuzzMix(f *testing.F) {
	f.Add("3:GET __key__", "1:MULTI ; SET __key__ __data__ ; EXEC", "16-48", uint16(600))
	f.Add(`SET "a\x41" 'b'`, "2 INCR c:__rand_int__", "0", uint16(0))
	f.Add("GET __key__", "SET __key__ __data__", "33:1,20000:2", uint16(30000))
	f.Fuzz(func(t *testing.T, a, b, size string, ahead uint16) {
		s, err := ParseValueSize(size, 100_000)
		if err != nil {
			return
		}
		o := mixDefaults()
		o.Size = s
		p, err := Mix([]string{a, b}, o)
		if err != nil || p.Unit() > 100 {
			return
		}
		n := p.Unit() + 3
		want := requestBytes(p, n)
		got := cutStream(t, p, int(ahead), n, func(size int) int { return 1 + len(want)%size })
		if !bytes.Equal(got, want) {
			t.Fatalf("%q %q: %q, want %q", a, b, clip(got), clip(want))
		}
	})
}
