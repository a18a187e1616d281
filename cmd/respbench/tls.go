package main

import (
	"crypto/tls"
	"crypto/x509"
	"os"
)

// checkTLS finds what is wrong with the TLS options before a connection is tried: a certificate that cannot be read
// otherwise shows as a vague handshake error of the thousandth connection.
func (s *settings) checkTLS() error {
	t := &s.opts.Target.TLS
	if !t.Enabled {
		for _, o := range []struct{ name, value string }{
			{"--sni", t.ServerName}, {"--cacert", t.CACert}, {"--cacertdir", t.CACertDir},
			{"--cert", t.Cert}, {"--key", t.Key}, {"--tls-ciphers", t.Ciphers},
		} {
			if o.value != "" {
				s.warn("Option %s is ignored without --tls.", o.name)
			}
		}
		return nil
	}
	switch {
	case t.Cert != "" && t.Key == "":
		return usagef("--cert needs --key")
	case t.Key != "" && t.Cert == "":
		return usagef("--key needs --cert")
	}
	if t.CACert != "" {
		pem, err := os.ReadFile(t.CACert)
		if err != nil {
			return usagef("--cacert: %s", err)
		}
		if !x509.NewCertPool().AppendCertsFromPEM(pem) {
			return usagef("--cacert: %s holds no certificate in PEM form", t.CACert)
		}
	}
	if t.CACertDir != "" {
		if _, err := os.ReadDir(t.CACertDir); err != nil {
			return usagef("--cacertdir: %s", err)
		}
	}
	if t.Cert != "" {
		if _, err := tls.LoadX509KeyPair(t.Cert, t.Key); err != nil {
			return usagef("--cert, --key: %s", err)
		}
	}
	return nil
}
