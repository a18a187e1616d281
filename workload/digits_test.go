package workload

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
)

// numbersToTry are all numbers around powers of ten, and some thousand others of each length.
func numbersToTry(limit uint64) []uint64 {
	numbers := []uint64{0}
	rng := rand.New(rand.NewPCG(1, 2))
	for p := uint64(1); p <= limit; p *= 10 {
		for d := range uint64(12) {
			numbers = append(numbers, p-min(p, d), p+d)
		}
		for range 2000 {
			numbers = append(numbers, rng.Uint64N(p))
		}
	}
	var fit []uint64
	for _, v := range numbers {
		if v < limit {
			fit = append(fit, v)
		}
	}
	return fit
}

func TestPutNumber12(t *testing.T) {
	for _, v := range numbersToTry(maxNumber) {
		var got [placeholderLen]byte
		putNumber12(got[:], v)
		if want := fmt.Sprintf("%012d", v); string(got[:]) != want {
			t.Fatalf("%d: %q, want %q", v, got, want)
		}
	}
}

func TestDigits4(t *testing.T) {
	for v := range uint32(10000) {
		d := digits4(v)
		if got, want := string([]byte{byte(d), byte(d >> 8), byte(d >> 16), byte(d >> 24)}), fmt.Sprintf("%04d", v); got != want {
			t.Fatalf("%d: %q, want %q", v, got, want)
		}
	}
}

func TestDecimal(t *testing.T) {
	for _, v := range append(numbersToTry(1e18), 1e19, 1<<64-1) {
		want := strconv.FormatUint(v, 10)
		if got := decimalLen(v); got != len(want) {
			t.Fatalf("%d: %d digits, want %d", v, got, len(want))
		}
		if got := string(appendNumber([]byte("x"), v)); got != "x"+want {
			t.Fatalf("%d is written %q", v, got)
		}
	}
}
