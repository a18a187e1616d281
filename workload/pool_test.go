package workload

import (
	"bytes"
	"compress/flate"
	"strings"
	"testing"
)

// The payload is redis-benchmark's, byte for byte, and goes on where it stopped when the tests run again (-l).
func TestPayload(t *testing.T) {
	value := func(o TestOptions) string {
		return parseCommands(t, wholeStream(t, onlyTest(t, "set", o), 1<<16, 1))[0][2]
	}
	const known = "VXKeHogKgJ=[5V9_X^b?"
	if got := value(TestOptions{DataSize: 3}); got != known[:3] {
		t.Errorf("-d 3: %q", got)
	}
	if got := value(TestOptions{DataSize: 20}); got != known {
		t.Errorf("-d 20: %q", got)
	}
	if got := value(TestOptions{DataSize: 5, Loop: 3}); got != known[15:] {
		t.Errorf("-d 5 in the fourth round: %q, want %q", got, known[15:])
	}
	if got := value(TestOptions{DataSize: 0}); got != "" {
		t.Errorf("-d 0: %q", got)
	}
	large := value(TestOptions{DataSize: payloadPeriod + 100, Loop: 1})
	all := make([]byte, 2*(payloadPeriod+100))
	fillPayload(all, 0)
	if large != string(all[payloadPeriod+100:]) {
		t.Error("a payload longer than the generator's period is wrong")
	}
	if string(all[payloadPeriod:payloadPeriod+20]) != known {
		t.Error("the generator does not repeat after its period")
	}
}

func TestPoolMismatch(t *testing.T) {
	p := printablePool()
	for _, off := range []int{0, 1, 12345, poolPeriod - 10, poolPeriod - 1} {
		for _, n := range []int{0, 1, 31, 32, refMin, 2*poolPeriod + 77} {
			b := p.appendTo(nil, off, n)
			if len(b) != n || p.mismatch(off, b) != -1 {
				t.Fatalf("%d bytes at %d differ from themselves at %d", n, off, p.mismatch(off, b))
			}
			for _, at := range []int{0, n / 2, n - 1} {
				if n == 0 {
					continue
				}
				b[at] ^= 1
				if got := p.mismatch(off, b); got != at {
					t.Fatalf("%d bytes at %d, wrong at %d: mismatch says %d", n, off, at, got)
				}
				b[at] ^= 1
			}
		}
	}
}

func TestPrintablePool(t *testing.T) {
	b := printablePool().b
	if i := bytes.IndexFunc(b, func(r rune) bool { return !strings.ContainsRune(printableAlphabet, r) }); i >= 0 {
		t.Fatalf("byte %d is %q", i, b[i])
	}
}

// What an earlier version wrote must be verified by this one: neither the pool nor the choice of a value may ever change.
func TestValuesNeverChange(t *testing.T) {
	const pool, value = "0JfeLcEkXmg8D7nDo4HFBWQNKQusg98O", "dnJHrPKtn1lCbsMaO8c3MN9udJbN-3UN"
	if got := string(printablePool().b[:32]); got != pool {
		t.Errorf("the pool begins with %q, want %q", got, pool)
	}
	p, err := Prefill(benchDefaults("set"))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(p.AppendValue(nil, 42)); got != value {
		t.Errorf("key 42 has the value %q, want %q", got, value)
	}
}

// --compressible is the share that a compressor removes.
func TestCompressible(t *testing.T) {
	for _, share := range []float64{0.1, 0.5, 0.9, 1} {
		o := benchDefaults("set")
		o.Size, o.Compressible = ConstantSize(64<<10), share
		value := mustBench(t, o).AppendValue(nil, 5)
		var packed bytes.Buffer
		w, err := flate.NewWriter(&packed, flate.DefaultCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(value); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		removed := 1 - float64(packed.Len())/float64(len(value))
		if removed < share-0.05 || removed > share+0.01 {
			t.Errorf("share %.2f: %.3f of the value is removed", share, removed)
		}
	}
}
