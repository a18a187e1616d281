package netpoll

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// testCertificate is a certificate for localhost and 127.0.0.1 that is its own authority.
var testCertificate = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
})

// testConfigs are a server's and a client's configuration for one version.
func testConfigs(version uint16) (server, client *tls.Config) {
	cert := testCertificate()
	pool := x509.NewCertPool()
	pool.AddCert(cert.Leaf)
	server = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: version, MaxVersion: version}
	return server, &tls.Config{RootCAs: pool}
}

var tlsVersions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

// eachTLS runs a test for both engines and both versions.
func eachTLS(t *testing.T, f func(t *testing.T, engine string, version uint16)) {
	for _, engine := range Engines() {
		for name, version := range tlsVersions {
			t.Run("engine="+engine+"/version="+name, func(t *testing.T) { f(t, engine, version) })
		}
	}
}

// listen accepts until the test ends and gives each connection a goroutine.
func listen(t testing.TB, serve func(net.Conn)) *Endpoint {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() { ln.Close(); wg.Wait() })
	ap := netip.MustParseAddrPort(ln.Addr().String())
	return &Endpoint{Name: ap.String(), Host: "127.0.0.1", Addrs: []netip.AddrPort{ap}}
}

// probe is a handler made of functions. A missing one does nothing.
type probe struct {
	loop     Loop
	opened   func(Conn)
	data     func(Conn, *ChainBuffer)
	writable func(Conn)
	closed   func(Conn, error)
	tick     func(int64)
}

func (p *probe) Opened(c Conn) {
	if p.opened != nil {
		p.opened(c)
	}
}

func (p *probe) Data(c Conn, in *ChainBuffer, _ int64) {
	if p.data != nil {
		p.data(c, in)
	} else {
		in.Discard(in.Len())
	}
}

func (p *probe) Writable(c Conn) {
	if p.writable != nil {
		p.writable(c)
	}
}

func (p *probe) Closed(c Conn, err error) {
	if p.closed != nil {
		p.closed(c, err)
	}
}

func (p *probe) Tick(now int64) {
	if p.tick != nil {
		p.tick(now)
	}
}

// run drives the probe until it stops its loop; a loop that goes on for ten seconds hangs.
func (p *probe) run(t testing.TB, o Options, dials ...Dial) {
	t.Helper()
	o.CPU = -1
	l, err := New(p, o)
	if err != nil {
		t.Fatal(err)
	}
	p.loop = l
	hung := time.AfterFunc(10*time.Second, func() {
		t.Error("the loop hung")
		l.Stop()
	})
	defer hung.Stop()
	for _, d := range dials {
		l.Dial(d)
	}
	if err := l.Run(); err != nil {
		t.Fatal(err)
	}
}

// take empties a ChainBuffer into dst.
func take(dst *bytes.Buffer, in *ChainBuffer) {
	for in.Len() > 0 {
		seg := in.Segment()
		dst.Write(seg)
		in.Discard(len(seg))
	}
}
