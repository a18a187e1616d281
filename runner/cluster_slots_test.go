package runner

import (
	"strings"
	"testing"
	"time"
)

func TestKeySlot(t *testing.T) {
	// The numbers are what CLUSTER KEYSLOT of Redis 7.0.15 answers.
	for _, c := range []struct {
		key  string
		slot uint16
	}{
		{"", 0}, {"123456789", 12739}, {"foo", 12182}, {"bar", 5061}, {"{user1000}.following", 3443}, {"{user1000}.followers", 3443},
		{"user1000", 3443}, {"foo{}{bar}", 8363}, {"foo{{bar}}zap", 4015}, {"foo{bar}{zap}", 5061}, {"{06S}", 0}, {"{Qi}}", 1}, {"a{b", 13340},
	} {
		if got := keySlot([]byte(c.key)); got != c.slot {
			t.Errorf("%q: slot %d, want %d", c.key, got, c.slot)
		}
	}
}

func TestSlotTags(t *testing.T) {
	for slot, tag := range slotTags() {
		if got := keySlot([]byte("key:" + string(tag[:]) + ":000000000012")); int(got) != slot {
			t.Fatalf("tag %q of slot %d is of slot %d", tag, slot, got)
		}
		if name := strings.TrimRight(string(tag[1:]), "}"); tag[0] != '{' || tag[4] != '}' || name == "" {
			t.Fatalf("slot %d has tag %q", slot, tag)
		}
	}
}

func TestParseRedirect(t *testing.T) {
	for _, c := range []struct {
		text string
		want redirect
		ok   bool
	}{
		{"MOVED 3999 127.0.0.1:6381", redirect{moved, 3999, "127.0.0.1", 6381}, true},
		{"ASK 0 [2a02::1]:6381", redirect{ask, 0, "2a02::1", 6381}, true},
		{"MOVED 16383 2a02::1:6381", redirect{moved, 16383, "2a02::1", 6381}, true},
		{"MOVED 1 host.name:1", redirect{moved, 1, "host.name", 1}, true},
		{"MOVED 1 :6381", redirect{moved, 1, "", 6381}, true},
		{"TRYAGAIN Multiple keys request during rehashing of slot", redirect{kind: tryAgain}, true},
		{"CLUSTERDOWN Hash slot not served", redirect{kind: clusterDown}, true},
		{"CLUSTERDOWN", redirect{kind: clusterDown}, true},
		{"MOVED 16384 h:1", redirect{}, false},
		{"MOVED -1 h:1", redirect{}, false},
		{"MOVED 1 h", redirect{}, false},
		{"MOVED 1 h:0", redirect{}, false},
		{"MOVED 1", redirect{}, false},
		{"MOVED", redirect{}, false},
		{"MOVEDX 1 h:1", redirect{}, false},
		{"ASKING 1 h:1", redirect{}, false},
		{"ERR no MOVED 1 h:1", redirect{}, false},
		{"", redirect{}, false},
	} {
		got, ok := parseRedirect(c.text)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %+v, %v", c.text, got, ok)
		}
	}
}

func TestPauseBefore(t *testing.T) {
	want := []time.Duration{0, 10, 20, 40, 80, 160, 320, 640, 1000, 1000}
	for n, ms := range want {
		if got := pauseBefore(n); got != ms*time.Millisecond {
			t.Errorf("pause before try %d is %v, want %d ms", n+1, got, ms)
		}
	}
	if got := pauseBefore(1 << 40); got != longPause {
		t.Errorf("after very many tries the pause is %v", got)
	}
}
