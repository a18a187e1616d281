package main

// checkTLS reads the files of the TLS options before a connection is tried: a certificate that cannot be read otherwise
// shows as a vague handshake error of the thousandth connection.
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
	if _, err := t.Config(); err != nil {
		return usagef("%s", err)
	}
	return nil
}
