package main

import (
	"errors"
	"strconv"
	"strings"

	"respbench/runner"
)

// A server's URI: SCHEME://[[USER:]PASSWORD@]HOST[:PORT][/DB], as redis-cli and redis-benchmark -u take it, with
// IPv6 addresses in brackets. net/url is not used: it accepts more than the scheme has (fragments, opaque parts),
// reads a lone word before the @ as the user where Redis reads it as the password, and quotes the URI, password
// and all, in its errors. No error of this file contains a part of the URI.

// errScheme begins with the words of redis-benchmark, which go out without a prefix of ours.
var errScheme = &usageError{text: "Invalid URI scheme (must be redis, rediss, valkey or valkeys)"}

var (
	errEscape = errors.New("invalid percent escape (must be % and two hexadecimal digits)")
	errQuery  = errors.New("a query or fragment (?, #) in the URI is not supported; in a password write %3F, %23")
	errHost   = errors.New("the host is malformed (an IPv6 address stands in brackets: redis://[::1]:6379)")
	errPort   = errors.New("invalid port in the URI (must be 1 to 65535; in a password write / as %2F, @ as %40)")
	errDB     = errors.New("the database after the / must be a whole number")
)

// schemes says whether a scheme means TLS.
var schemes = map[string]bool{"redis": false, "valkey": false, "rediss": true, "valkeys": true}

// parseURI fills what the URI names, and leaves the rest of t alone.
func parseURI(uri string, t *runner.Target) error {
	scheme, rest, ok := strings.Cut(uri, "://")
	tls, known := schemes[strings.ToLower(scheme)]
	if !ok || !known {
		return errScheme
	}
	if strings.ContainsAny(rest, "?#") {
		return errQuery
	}
	authority, db, _ := strings.Cut(rest, "/")
	parsed := *t
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		if err := parseUserInfo(authority[:at], &parsed); err != nil {
			return err
		}
		authority = authority[at+1:]
	}
	if err := parseHostPort(authority, &parsed); err != nil {
		return err
	}
	if db != "" {
		n, err := digits(db)
		if err != nil || n < 0 || n > maxDB {
			return errDB
		}
		parsed.DB = int(n)
	}
	if tls {
		parsed.TLS.Enabled = true
	}
	*t = parsed
	return nil
}

// parseUserInfo reads "user:password", or "password" alone.
func parseUserInfo(info string, t *runner.Target) error {
	user, password, both := strings.Cut(info, ":")
	if !both {
		user, password = "", info
	}
	var err error
	if t.User, err = unescape(user); err != nil {
		return err
	}
	t.Password, err = unescape(password)
	t.Auth = t.User != "" // "bob:@" is a user without a password
	return err
}

func parseHostPort(s string, t *runner.Target) error {
	host, port := s, ""
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 2 {
			return errHost
		}
		host, port = s[1:end], s[end+1:]
		if port != "" && port[0] != ':' {
			return errHost
		}
	} else if colon := strings.IndexByte(s, ':'); colon >= 0 {
		host, port = s[:colon], s[colon:]
		if strings.Count(s, ":") > 1 {
			return errHost
		}
	}
	if strings.ContainsFunc(host, blankOrControl) {
		return errHost
	}
	if host != "" {
		t.Host = host
	}
	if port == "" {
		return nil
	}
	n, err := digits(port[1:])
	if err != nil || n < 1 || n > maxPort {
		return errPort
	}
	t.Port = int(n)
	return nil
}

// unescape decodes %XX and nothing else: a + is a plus sign.
func unescape(s string) (string, error) {
	if !strings.Contains(s, "%") {
		return s, nil
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", errEscape
		}
		b, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil || strings.ContainsAny(s[i+1:i+3], "+-_") {
			return "", errEscape
		}
		out.WriteByte(byte(b))
		i += 2
	}
	return out.String(), nil
}
