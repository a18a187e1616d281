package main

import (
	"strings"
	"testing"

	"respbench/runner"
)

func TestParseURI(t *testing.T) {
	for _, c := range []struct {
		uri            string
		host           string
		port           int
		user, password string
		db             int
		tls            bool
	}{
		{"redis://", "127.0.0.1", 6379, "", "", 0, false},
		{"redis://h", "h", 6379, "", "", 0, false},
		{"redis://h:7000/3", "h", 7000, "", "", 3, false},
		{"redis://h/", "h", 6379, "", "", 0, false},
		{"REDIS://h", "h", 6379, "", "", 0, false},
		{"rediss://h", "h", 6379, "", "", 0, true},
		{"valkey://h", "h", 6379, "", "", 0, false},
		{"valkeys://h:1", "h", 1, "", "", 0, true},
		{"redis://pw@h", "h", 6379, "", "pw", 0, false},
		{"redis://:pw@h", "h", 6379, "", "pw", 0, false},
		{"redis://bob:pw@h", "h", 6379, "bob", "pw", 0, false},
		{"redis://bob:p%40ss%3A%2Fw%2B1@127.0.0.1:7/3", "127.0.0.1", 7, "bob", "p@ss:/w+1", 3, false},
		{"redis://bob:p%40ss%3a%2fw+1@h", "h", 6379, "bob", "p@ss:/w+1", 0, false},
		{"redis://b%6Fb:100%25@h", "h", 6379, "bob", "100%", 0, false},
		{"redis://bob:a@b@h", "h", 6379, "bob", "a@b", 0, false},
		{"redis://bob:a:b@h", "h", 6379, "bob", "a:b", 0, false},
		{"redis://[::1]:7000/0", "::1", 7000, "", "", 0, false},
		{"redis://[::1]", "::1", 6379, "", "", 0, false},
		{"redis://:pw@[fe80::1%eth0]:1", "fe80::1%eth0", 1, "", "pw", 0, false},
	} {
		got := runner.Target{Host: "127.0.0.1", Port: 6379}
		if err := parseURI(c.uri, &got); err != nil {
			t.Errorf("%s: %v", c.uri, err)
			continue
		}
		if got.Host != c.host || got.Port != c.port || got.User != c.user || got.Password != c.password ||
			got.DB != c.db || got.TLS.Enabled != c.tls {
			t.Errorf("%s: got %+v", c.uri, got)
		}
	}
}

// A wrong URI says what is wrong, and never shows the password.
func TestParseURIRefuses(t *testing.T) {
	for _, c := range []struct{ uri, say string }{
		{"http://x", "Invalid URI scheme"}, {"127.0.0.1:6379", "Invalid URI scheme"}, {"", "Invalid URI scheme"},
		{"redis:/x", "Invalid URI scheme"}, {"unix:///x", "Invalid URI scheme"},
		{"redis://:secret%4@h", "percent escape"}, {"redis://:secret%@h", "percent escape"}, {"redis://:secret%zz@h", "percent escape"},
		{"redis://:secret%+1@h", "percent escape"}, {"redis://se%4cret%1:x@h", "percent escape"},
		{"redis://:secret@h:x", "port"}, {"redis://:secret@h:0", "port"}, {"redis://:secret@h:65536", "port"}, {"redis://:secret@h:", "port"},
		{"redis://:secret@h:-1", "port"}, {"redis://bob:secret/w@h", "port"},
		{"redis://:secret@::1", "brackets"}, {"redis://:secret@[::1", "host"}, {"redis://:secret@[]", "host"}, {"redis://[::1]x", "host"}, {"redis://:secret@a b", "host"}, {"redis://a\nb/1", "host"},
		{"redis://h/zz", "database"}, {"redis://h/-1", "database"}, {"redis://h/1/2", "database"}, {"redis://h/99999999999", "database"},
		{"redis://:secret@h?x=1", "query"}, {"redis://h/0#f", "query"},
	} {
		before := runner.Target{Host: "127.0.0.1", Port: 6379}
		got := before
		err := parseURI(c.uri, &got)
		if err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: error %v, want one with %q", c.uri, err, c.say)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows the password: %v", c.uri, err)
		}
		if got.Host != before.Host || got.Password != "" || got.Port != before.Port {
			t.Errorf("%s: a refused URI changed the target: %+v", c.uri, got)
		}
	}
}

// Whatever a URI holds, the error has no part of the password in it.
func FuzzParseURI(f *testing.F) {
	f.Add("redis://bob:hunter2@h:1/2")
	f.Add("rediss://hunter2@[::1]")
	f.Fuzz(func(t *testing.T, uri string) {
		const password = "hunter2"
		var got runner.Target
		if err := parseURI(uri, &got); err != nil && strings.Contains(err.Error(), password) {
			t.Errorf("%q: %v", uri, err)
		} else if err == nil && (got.Port < 0 || got.Port > maxPort || got.DB < 0) {
			t.Errorf("%q: port %d, database %d", uri, got.Port, got.DB)
		}
	})
}
