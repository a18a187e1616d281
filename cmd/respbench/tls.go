package main

// checkTLS finds what is wrong with the TLS options before a connection is tried: a certificate that cannot be read
// would otherwise show as a vague handshake error of the thousandth connection.
func (s *settings) checkTLS() error {
	t := &s.opts.Target.TLS
	if t.Enabled {
		if _, err := t.Config(); err != nil {
			return usagef("%s", err)
		}
		return nil
	}
	for _, o := range []struct {
		name  string
		given bool
	}{
		{"--sni", t.ServerName != ""}, {"--cacert", t.CACert != ""}, {"--cacertdir", t.CACertDir != ""},
		{"--insecure", t.Insecure}, {"--cert", t.Cert != ""}, {"--key", t.Key != ""}, {"--tls-ciphers", t.Ciphers != ""},
	} {
		if o.given {
			s.warn("Option %s is ignored without --tls.", o.name)
		}
	}
	return nil
}
