package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// authority makes certificates for the tests of TLS, as files.
type authority struct {
	t   testing.TB
	dir string
	key *ecdsa.PrivateKey
	own *x509.Certificate
}

func newAuthority(t testing.TB) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.key, a.own = a.certify("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// issue writes NAME.pem and NAME.key; the name is the only one that the certificate holds.
func (a *authority) issue(name string) {
	c := &x509.Certificate{KeyUsage: x509.KeyUsageDigitalSignature}
	if ip := net.ParseIP(name); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{name}
	}
	a.certify(name, c)
}

func (a *authority) certify(name string, c *x509.Certificate) (*ecdsa.PrivateKey, *x509.Certificate) {
	a.t.Helper()
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	parent, signer := a.own, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	writeFile(a.t, a.path(name+".pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	writeFile(a.t, a.path(name+".key"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	return key, cert
}

func (a *authority) path(file string) string { return filepath.Join(a.dir, file) }

// config is a server's configuration with the certificate of that name.
func (a *authority) config(name string) *tls.Config {
	a.t.Helper()
	pair, err := tls.LoadX509KeyPair(a.path(name+".pem"), a.path(name+".key"))
	if err != nil {
		a.t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}}
}

// useTLSRedis starts a redis-server with a TLS port beside its plain one. It is skipped where the
// server is built without TLS.
func (a *authority) useTLSRedis(args ...string) (r *redisServer, tlsPort string) {
	a.t.Helper()
	a.issue("127.0.0.1")
	tlsPort = freePort(a.t)
	r = useRedis(a.t, append([]string{"--tls-port", tlsPort, "--tls-cert-file", a.path("127.0.0.1.pem"), "--tls-key-file", a.path("127.0.0.1.key"),
		"--tls-ca-cert-file", a.path("ca.pem"), "--tls-auth-clients", "no"}, args...)...)
	return r, tlsPort
}

// useTLSFake runs a fake behind TLS, and lets a listener be put between.
func useTLSFake(t testing.TB, config *tls.Config, between func(net.Listener) net.Listener) *fakeServer {
	t.Helper()
	f, err := newFake("ok")
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if between != nil {
		ln = between(ln)
	}
	s := &fakeServer{fake: f, ln: tls.NewListener(ln, config), started: time.Now(), calls: map[string]int{}}
	t.Cleanup(s.close)
	go func() {
		for {
			conn, err := s.ln.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s
}
