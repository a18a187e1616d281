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
	"strings"
	"sync"
	"testing"
	"time"
)

// pki is an authority with a server's and a client's certificate, as files.
type pki struct {
	dir                                              string
	ca, serverCert, serverKey, clientCert, clientKey string
	server                                           tls.Certificate
}

// newPKI makes certificates for "db.example" and 127.0.0.1.
func newPKI(t *testing.T) *pki {
	t.Helper()
	dir := t.TempDir()
	p := &pki{dir: dir}
	path := func(name string) string { return filepath.Join(dir, name) }
	now := time.Now()
	authority := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour)}
	caKey := newKey(t)
	caDER := sign(t, authority, authority, caKey, caKey)
	p.ca = path("ca.pem")
	writePEM(t, p.ca, "CERTIFICATE", caDER)
	issue := func(name string, usage x509.ExtKeyUsage) (cert, key string) {
		k := newKey(t)
		leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"db.example"},
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{usage},
			KeyUsage: x509.KeyUsageDigitalSignature, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour)}
		cert, key = path(name+".pem"), path(name+".key")
		writePEM(t, cert, "CERTIFICATE", sign(t, leaf, authority, k, caKey))
		der, err := x509.MarshalPKCS8PrivateKey(k)
		if err != nil {
			t.Fatal(err)
		}
		writePEM(t, key, "PRIVATE KEY", der)
		return cert, key
	}
	p.serverCert, p.serverKey = issue("server", x509.ExtKeyUsageServerAuth)
	p.clientCert, p.clientKey = issue("client", x509.ExtKeyUsageClientAuth)
	var err error
	if p.server, err = tls.LoadX509KeyPair(p.serverCert, p.serverKey); err != nil {
		t.Fatal(err)
	}
	return p
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func sign(t *testing.T, cert, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) []byte {
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	writeFile(t, path, string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
}

// useTLSRedis is a real redis-server that speaks TLS alone; its plain helper port is for questions.
func useTLSRedis(t *testing.T, p *pki, authClients string) (r *redisServer, tlsPort string) {
	t.Helper()
	tlsPort = freePort(t)
	r = useRedis(t, "--tls-port", tlsPort, "--tls-cert-file", p.serverCert, "--tls-key-file", p.serverKey,
		"--tls-ca-cert-file", p.ca, "--tls-auth-clients", authClients)
	waitAccepting(t, net.JoinHostPort("127.0.0.1", tlsPort))
	return r, tlsPort
}

func TestTLS(t *testing.T) {
	p := newPKI(t)
	other := newPKI(t)
	r, port := useTLSRedis(t, p, "no")
	for _, engine := range engines() {
		for _, c := range []struct {
			args string
			want want
		}{
			{"--tls --cacert " + p.ca, good("SET")},
			{"--tls --insecure", good("SET")},
			{"--tls --cacert " + p.ca + " --sni db.example", good("SET")},
			{"--tls --cacertdir " + p.dir, good("SET")},
			{"--tls --cacert " + p.ca + " --threads 2 -P 8", good("SET")},
			{"--tls --cacert " + p.ca + " -d 100000", good("SET")},
			{"--tls --cacert " + p.ca + " -k 0", want{0, `^SET: [0-9.]+ ` + qRow, ""}},
			{"--tls --cacert " + p.ca + " --tls-ciphers ECDHE-ECDSA-AES128-GCM-SHA256", good("SET")},
			{"--tls", bad(`(?i)certificate`)},
			{"--tls --cacert " + other.ca, bad(`(?i)certificate`)},
			{"--tls --cacert " + p.ca + " --sni wrong.example", bad(`(?i)certificate.*wrong\.example`)},
			{"--tls --tls-ciphers NO-SUCH-CIPHER", bad(`NO-SUCH-CIPHER`)},
		} {
			r.ask("CONFIG RESETSTAT")
			args := append([]string{"-p", port, "--engine", engine, "-q", "-n", "200", "-c", "5", "-t", "set"}, strings.Fields(c.args)...)
			respbench(t, args...).check(t, c.want)
			if got := r.calls("set"); c.want.code == 0 && got != 200 {
				t.Errorf("%s %s: %d SET, want 200", engine, c.args, got)
			}
		}
		respbench(t, "-u", "rediss://127.0.0.1:"+port+"/2", "--insecure", "--engine", engine, "-q", "-n", "20", "-t", "set").check(t, good("SET"))
	}
}

func TestTLSClientCertificate(t *testing.T) {
	p := newPKI(t)
	_, port := useTLSRedis(t, p, "yes")
	base := []string{"-p", port, "--tls", "--cacert", p.ca, "-q", "-n", "20", "-t", "set"}
	respbench(t, append(base, "--cert", p.clientCert, "--key", p.clientKey)...).check(t, good("SET"))
	respbench(t, base...).check(t, bad(`(?i)certificate|closed|reset`))
}

// C47, C48: the handshake begins as soon as a socket is connected, and asks for the right name.
func TestTLSHandshake(t *testing.T) {
	p := newPKI(t)
	for _, c := range []struct{ args, name string }{
		{"-h localhost", "localhost"}, {"-h 127.0.0.1", ""}, {"-h 127.0.0.1 --sni db.example", "db.example"},
	} {
		s, names := tlsFake(t, p)
		respbench(t, append(strings.Fields(c.args), "-p", s.port(), "--tls", "--insecure", "-q", "-c", "20", "-n", "200", "set", "k", "v")...).check(t, good("set k v"))
		for name := range names() {
			if name != c.name {
				t.Errorf("%s: asked for %q, want %q", c.args, name, c.name)
			}
		}
	}
}

// tlsFake is FAKE(ok) behind TLS. It drops a connection whose handshake is not done in half a second, and notes the
// names that were asked for.
func tlsFake(t *testing.T, p *pki) (s *fakeServer, names func() map[string]bool) {
	t.Helper()
	var mu sync.Mutex
	seen := map[string]bool{}
	config := &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		mu.Lock()
		defer mu.Unlock()
		seen[h.ServerName] = true
		return nil, nil
	}, Certificates: []tls.Certificate{p.server}}
	f, err := newFake("ok")
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = &fakeServer{fake: f, ln: ln, calls: map[string]int{}}
	t.Cleanup(s.close)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			time.Sleep(5 * time.Millisecond) // a server that accepts slowly
			go func() {
				secured := tls.Server(conn, config)
				conn.SetDeadline(time.Now().Add(500 * time.Millisecond))
				if secured.Handshake() != nil {
					conn.Close()
					return
				}
				conn.SetDeadline(time.Time{})
				s.serve(secured)
			}()
		}
	}()
	return s, func() map[string]bool {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

// C45: a plain server waits for the rest of a command, and the client must not wait for ever.
func TestTLSToPlainServer(t *testing.T) {
	r := useRedis(t)
	for _, args := range []string{"--tls -p " + r.port, "-u rediss://127.0.0.1:" + r.port} {
		o := respbench(t, append(strings.Fields(args), "--insecure", "--connect-timeout", "1", "-n", "4", "-c", "1", "-q", "-t", "set")...)
		o.check(t, bad(`(?i)tls`))
		if o.took > 3*time.Second {
			t.Errorf("%s: took %v", args, o.took)
		}
	}
	// A server that speaks TLS, asked in plain.
	_, port := useTLSRedis(t, newPKI(t), "no")
	respbench(t, "-p", port, "--timeout", "1", "-n", "4", "-q", "-t", "set").check(t, bad(`^(Error|Could not)`))
}
