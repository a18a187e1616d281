package runner

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"respbench/netpoll"
)

// Config is the client's side of TLS, with every file read: what is wrong with one is known before
// a connection is tried. nil means plain TCP. Errors name the option and the file.
//
// As in redis-benchmark the chain is verified, and the name in the certificate only when --sni
// gives one.
func (t *TLSOptions) Config() (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	roots, err := t.roots()
	if err != nil {
		return nil, err
	}
	c := &tls.Config{ServerName: t.ServerName, RootCAs: roots, MinVersion: tls.VersionTLS12, InsecureSkipVerify: t.Insecure,
		// The curves of everyday servers: with a post-quantum share the hello would not fit into
		// one packet, and would cost more than the rest of the handshake.
		CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521}}
	if !t.Insecure && t.ServerName == "" {
		c.InsecureSkipVerify = true // by crypto/tls, which would insist on a name
		c.VerifyConnection = chainOnly(roots)
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		switch {
		case err != nil && isEncrypted(t.Key):
			return nil, fmt.Errorf("--key %s: the key is encrypted, and there is no way to give its passphrase (openssl pkey -in FILE -out PLAIN decrypts it)", t.Key)
		case err != nil:
			return nil, fmt.Errorf("--cert %s, --key %s: %w", t.Cert, t.Key, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	c.CipherSuites, err = cipherSuites(t.Ciphers)
	return c, err
}

// isEncrypted knows the two forms of OpenSSL: PKCS #8, and the older one that says so in a header.
func isEncrypted(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && bytes.Contains(text, []byte("ENCRYPTED"))
}

// roots are the authorities of --cacert and --cacertdir together; nil means the system's.
func (t *TLSOptions) roots() (*x509.CertPool, error) {
	if t.CACert == "" && t.CACertDir == "" {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if t.CACert != "" {
		pem, err := os.ReadFile(t.CACert)
		if err != nil {
			return nil, fmt.Errorf("--cacert: %w", err)
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--cacert: %s holds no certificate in PEM form", t.CACert)
		}
	}
	if t.CACertDir != "" {
		return pool, addDir(pool, t.CACertDir)
	}
	return pool, nil
}

// addDir takes every certificate of a directory, whatever its file is called; other files may be
// there, too.
func addDir(pool *x509.CertPool, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("--cacertdir: %w", err)
	}
	found := false
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
			continue
		}
		pem, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("--cacertdir: %w", err)
		}
		found = pool.AppendCertsFromPEM(pem) || found
	}
	if !found {
		return fmt.Errorf("--cacertdir: no file in %s holds a certificate in PEM form", dir)
	}
	return nil
}

// chainOnly verifies the chain whatever name the certificate holds. A resumed session comes from a
// connection that was verified by the same configuration.
func chainOnly(roots *x509.CertPool) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		if s.DidResume {
			return nil
		}
		between := x509.NewCertPool()
		for _, c := range s.PeerCertificates[1:] {
			between.AddCert(c)
		}
		_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
		if err != nil {
			return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: err}
		}
		return nil
	}
}

// secured is conn to ep with TLS, when the options ask for it. It closes conn when that fails.
func (s *session) secured(ctx context.Context, conn net.Conn, ep *netpoll.Endpoint) (net.Conn, error) {
	if s.tls == nil {
		return conn, nil
	}
	c := tls.Client(conn, ep.TLSConfig(s.tls))
	if err := c.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, &netpoll.HandshakeError{Err: err}
	}
	return c, nil
}

// tlsError is a handshake that failed, in redis-benchmark's words.
type tlsError struct {
	cause error
	node  string // a node that the cluster named; empty: the server that the user named
}

func (e *tlsError) Error() string {
	text := "Could not negotiate a TLS connection: " + tlsReason(e.cause)
	if e.node != "" {
		text += fmt.Sprintf(" (node %s, as the cluster names it: without \"tls-cluster yes\" nodes name their ports without TLS)", e.node)
	}
	return text
}

// isAlert tells the other end's refusal from what is wrong here. With TLS 1.3 it comes after the handshake, since the
// client is done before the server has judged its certificate.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// wordless is the end of a handshake that has not begun: an error reply would have to be encrypted.
const wordless = " without a word, as one does that has too many clients"

func tlsReason(err error) string {
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &cert):
		text := "certificate verify failed: " + strings.TrimPrefix(cert.Err.Error(), "x509: ")
		if errors.As(cert.Err, new(x509.UnknownAuthorityError)) {
			text += " (--cacert names a file with one that is trusted, --insecure trusts all)"
		}
		return text
	case errors.As(err, &record):
		return fmt.Sprintf("the server answered, but not with TLS: it began with %q", record.RecordHeader[:])
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "no answer within the time of --connect-timeout: a port without TLS says nothing"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server closed the connection" + wordless
	case errors.Is(err, syscall.ECONNRESET):
		return plainError(err) + wordless
	case isAlert(err) && strings.HasSuffix(err.Error(), "certificate required"):
		return plainError(err) + " (--cert and --key name the client's)"
	case isAlert(err) && strings.HasSuffix(err.Error(), "handshake failure"): // with TLS 1.2 it says no more
		return plainError(err) + " (no cipher suite in common, see --tls-ciphers, or it wants a certificate: --cert and --key)"
	}
	return plainError(err)
}
