package runner

import (
	"crypto/tls"
	"fmt"
	"strings"
)

// cipherNames are the suites of TLS 1.2 by OpenSSL's names, as far as crypto/tls has them. Those
// that it leaves out of its own choice are here, too: who names one wants to measure it.
var cipherNames = map[string]uint16{
	"ECDHE-ECDSA-AES128-GCM-SHA256": tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
	"ECDHE-RSA-AES128-GCM-SHA256":   tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	"ECDHE-ECDSA-AES256-GCM-SHA384": tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
	"ECDHE-RSA-AES256-GCM-SHA384":   tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	"ECDHE-ECDSA-CHACHA20-POLY1305": tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
	"ECDHE-RSA-CHACHA20-POLY1305":   tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	"ECDHE-ECDSA-AES128-SHA256":     tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
	"ECDHE-RSA-AES128-SHA256":       tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
	"ECDHE-ECDSA-AES128-SHA":        tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
	"ECDHE-RSA-AES128-SHA":          tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
	"ECDHE-ECDSA-AES256-SHA":        tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
	"ECDHE-RSA-AES256-SHA":          tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA,
	"AES128-GCM-SHA256":             tls.TLS_RSA_WITH_AES_128_GCM_SHA256,
	"AES256-GCM-SHA384":             tls.TLS_RSA_WITH_AES_256_GCM_SHA384,
	"AES128-SHA256":                 tls.TLS_RSA_WITH_AES_128_CBC_SHA256,
	"AES128-SHA":                    tls.TLS_RSA_WITH_AES_128_CBC_SHA,
	"AES256-SHA":                    tls.TLS_RSA_WITH_AES_256_CBC_SHA,
}

// cipherSuites reads --tls-ciphers: names between colons, commas or blanks. nil leaves the choice
// to crypto/tls, and so does OpenSSL's DEFAULT. Suites of TLS 1.3 are chosen by nobody.
func cipherSuites(list string) (ids []uint16, err error) {
	if list == "" || list == "DEFAULT" {
		return nil, nil
	}
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(":, ", r) }) {
		id, known := cipherNames[name]
		if !known {
			return nil, fmt.Errorf("--tls-ciphers: no cipher suite %q: names like ECDHE-RSA-AES128-GCM-SHA256 are understood, classes and operators are not", name)
		}
		ids = append(ids, id)
	}
	if ids == nil {
		return nil, fmt.Errorf("--tls-ciphers: %q names no cipher suite", list)
	}
	return ids, nil
}
