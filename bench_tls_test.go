//go:build linux

package respbench_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// BenchmarkTLS is the cost of TLS: respbench and redis-benchmark in turn, in changing order, on one
// real redis-server. It reports the median of the pairs' ratios of CPU per request and of the rate,
// handshakes included. One iteration is one pair.
func BenchmarkTLS(b *testing.B) {
	for _, name := range []string{"redis-server", "redis-benchmark"} {
		if _, err := exec.LookPath(name); err != nil {
			b.Skip(name, "is not installed")
		}
	}
	const clients = 50
	port, ca := tlsServer(b)
	secure := func(engine ...string) func(port, pipeline, clients, n int) []string {
		return func(port, pipeline, clients, n int) []string {
			return append(append(classicArgs(port, pipeline, clients, n), "--tls", "--cacert", ca), engine...)
		}
	}
	theirTool := tool{"redis-benchmark", secure()}
	for _, engine := range []string{"epoll", "gnet"} {
		ourTool := tool{binary, secure("--engine", engine)}
		for _, p := range []int{1, 16, 128} {
			b.Run(fmt.Sprintf("engine=%s/P=%d/c=%d", engine, p, clients), func(b *testing.B) {
				var cpu, rate, own []float64
				for i := 0; b.Loop(); i++ {
					var s [2]sample
					for _, k := range []int{i % 2, 1 - i%2} {
						s[k] = runTool(b, []tool{ourTool, theirTool}[k], port, p, clients, requestsFor(p, clients))
					}
					cpu = append(cpu, s[0].cpuPerRequest()/s[1].cpuPerRequest())
					rate = append(rate, s[0].rate()/s[1].rate())
					own = append(own, s[0].cpuPerRequest())
				}
				b.ReportMetric(median(own), "cpu-ns/req")
				b.ReportMetric(median(cpu), "cpu/redis-benchmark")
				b.ReportMetric(median(rate), "rate/redis-benchmark")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// tlsServer starts a redis-server that speaks TLS only, on the last processor, and returns its port
// and the file of the certificate to trust.
func tlsServer(tb testing.TB) (port int, ca string) {
	tb.Helper()
	dir := tb.TempDir()
	ca, key := selfSigned(tb, dir)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	port = ln.Addr().(*net.TCPAddr).Port
	ln.Close()
	cmd := exec.Command("redis-server", "--port", "0", "--tls-port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "",
		"--tls-cert-file", ca, "--tls-key-file", key, "--tls-ca-cert-file", ca, "--tls-auth-clients", "no", "--dir", dir)
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			break
		}
		if time.Now().After(end) {
			tb.Fatal("redis-server does not start")
		}
	}
	if cpu := serverCPU(); cpu >= 0 {
		pin(tb, cmd.Process.Pid, cpu)
	}
	return port, ca
}

// selfSigned writes a certificate for 127.0.0.1, and its key.
func selfSigned(tb testing.TB, dir string) (certFile, keyFile string) {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "respbench"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		tb.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		tb.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return certFile, keyFile
}
