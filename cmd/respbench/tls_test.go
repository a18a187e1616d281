package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Against a real server: exact counts with both engines and versions, pipelines, loops, large
// values, connections made again, and the modes beside the plain one.
func TestTLSAgainstRedis(t *testing.T) {
	a := newAuthority(t)
	for _, protocols := range []string{"TLSv1.2", "TLSv1.3"} {
		r, port := a.useTLSRedis("--tls-protocols", protocols)
		for _, engine := range engines() {
			for _, c := range []struct {
				args string
				sets int
			}{
				{"-q -t set -n 1000 -c 10", 1000},
				{"-q -t set -n 20000 -c 5 -P 100 --threads 2", 20000},
				{"-q -t set -n 60 -c 3 -P 4 -d 300000", 60},
				{"-q -t set -n 300 -c 80 -k 0", 300},
				{"-q -t set -n 100 -c 2 -3 --dbnum 3", 100},
				{"-q -t set -n 100 -c 2 --enable-tracking", 100},
				{"--mode set --requests 500 --keyspace 100 --value-size 20000 --pipeline 8 -c 4", 500},
				{"--mode mixed --set-ratio 100 --requests 500 --keyspace 10 --verify-get", 500},
			} {
				t.Run(protocols+" "+engine+" "+c.args, func(t *testing.T) {
					r.ask("CONFIG RESETSTAT")
					args := append(strings.Fields(c.args), "-p", port, "--tls", "--cacert", a.path("ca.pem"), "--engine", engine)
					if o := respbench(t, args...); o.code != 0 {
						t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
					}
					if n := r.calls("set"); n != c.sets {
						t.Errorf("%d SETs, not %d", n, c.sets)
					}
				})
			}
		}
	}
}

func TestTLSVerifyGet(t *testing.T) {
	a := newAuthority(t)
	_, port := a.useTLSRedis()
	for _, engine := range engines() {
		o := respbench(t, "-p", port, "--tls", "--cacert", a.path("ca.pem"), "--engine", engine,
			"--mode", "get", "--verify-get", "--prefill", "always", "--keyspace", "50", "--requests", "2000", "--value-size", "40000", "--pipeline", "16")
		if o.code != 0 || !strings.Contains(o.stdout, "erif") {
			t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
		}
	}
}

// C45: a plain port answers nothing to a hello. Every mode ends within the connect limit.
func TestTLSToPlainPort(t *testing.T) {
	t.Parallel()
	r := useRedis(t)
	const say = `^Could not negotiate a TLS connection: no answer within the time of --connect-timeout`
	for _, args := range []string{"--tls -p PORT -n 4 -c 1 -q -t set", "-u rediss://127.0.0.1:PORT -n 4 -c 1 -q -t set", "--tls -p PORT --mode set --requests 4",
		"--tls -p PORT -I -c 2", "--tls -p PORT -I -c 2 --engine gnet", "--tls -p PORT --wait 30 -n 4 -q -t set"} {
		timed(t, func() string {
			o := respbench(t, append(strings.Fields(strings.ReplaceAll(args, "PORT", r.port)), "--connect-timeout", "300ms")...)
			o.check(t, bad(say))
			return o.longerThan(3 * time.Second)
		})
	}
	p := start(t, hang, nil, "--tls", "-p", r.port, "-n", "4", "-q", "--connect-timeout", "0")
	awaitClients(t, r, 2) // ours and the one that asks
	p.Process.Signal(syscall.SIGINT)
	if o := p.end(); o.code != 130 {
		t.Errorf("exit code %d after SIGINT during the handshake\n%s", o.code, o.stderr)
	}
}

// A full server drops a connection before its handshake, in which it could say why.
func TestTLSFullServer(t *testing.T) {
	a := newAuthority(t)
	_, port := a.useTLSRedis("--maxclients", "1")
	for _, engine := range engines() {
		for _, args := range []string{"-q -t set", "-I"} {
			respbench(t, append(strings.Fields(args), "-p", port, "--tls", "--insecure", "-c", "10", "--engine", engine)...).
				check(t, bad(`^Could not negotiate a TLS connection: (the server closed the connection|Connection reset by peer) without a word, as one does that has too many clients$`))
		}
	}
}

// The other way round: a TLS port resets who speaks plainly to it.
func TestPlainToTLSPort(t *testing.T) {
	a := newAuthority(t)
	a.issue("localhost")
	s := useTLSFake(t, a.config("localhost"), nil)
	for _, args := range []string{"-t set", "-a pw -t set", "--mode set", "--cluster -t set"} {
		for _, engine := range engines() {
			respbench(t, append(strings.Fields(args), "-p", s.port(), "-q", "--engine", engine)...).check(t, bad(`does the port want --tls\?$`))
		}
	}
}

// awaitClients waits until the server has so many connections.
func awaitClients(t testing.TB, r *redisServer, n int) {
	t.Helper()
	for end := time.Now().Add(hang); strings.Count(r.ask("CLIENT LIST"), " addr=") < n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the server never had %d clients", n)
		}
	}
}

// impatient accepts one connection each 20 ms and drops it when its handshake has not begun within
// half a second.
type impatient struct{ net.Listener }

func (l *impatient) Accept() (net.Conn, error) {
	time.Sleep(20 * time.Millisecond)
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &firstBytes{Conn: conn}
	c.limit = time.AfterFunc(500*time.Millisecond, func() { conn.Close() })
	return c, nil
}

// firstBytes lifts the limit when something has arrived.
type firstBytes struct {
	net.Conn
	limit *time.Timer
}

func (c *firstBytes) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.limit.Stop()
	return n, err
}

// C47: a server that is slow to accept and drops silent connections: the handshake begins as the
// socket connects.
func TestTLSHandshakeBeginsAtOnce(t *testing.T) {
	a := newAuthority(t)
	a.issue("127.0.0.1")
	for _, engine := range engines() {
		timed(t, func() string {
			s := useTLSFake(t, a.config("127.0.0.1"), func(ln net.Listener) net.Listener { return &impatient{Listener: ln} })
			o := respbench(t, "--tls", "--insecure", "-p", s.port(), "-c", "50", "-n", "500", "-q", "-t", "set", "--engine", engine)
			if n := s.count(); o.code != 0 || n != 500 {
				return fmt.Sprintf("%s: %d requests, not 500\n%s", engine, n, o.stderr)
			}
			o.check(t, good("SET"))
			return ""
		})
	}
}

// C48: the name sent is that of --sni, else the host when it is a name, else none.
func TestTLSNameSent(t *testing.T) {
	a := newAuthority(t)
	a.issue("localhost")
	config := a.config("localhost")
	var mu sync.Mutex
	var names []string
	config.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		mu.Lock()
		defer mu.Unlock()
		names = append(names, h.ServerName)
		return nil, nil
	}
	s := useTLSFake(t, config, nil)
	for _, c := range []struct{ args, name string }{
		{"-h localhost", "localhost"}, {"-h 127.0.0.1", ""}, {"-h 127.0.0.1 --sni db.example", "db.example"}, {"-u rediss://localhost:" + s.port(), "localhost"},
	} {
		mu.Lock()
		names = nil
		mu.Unlock()
		respbench(t, append(strings.Fields(c.args), "--tls", "--insecure", "-p", s.port(), "-c", "2", "-n", "4", "-q", "-t", "set")...).check(t, good("SET"))
		mu.Lock()
		for _, n := range names {
			if n != c.name {
				t.Errorf("%s: sent %q, not %q", c.args, n, c.name)
			}
		}
		if len(names) < 3 { // the load's two and the one that asks for the configuration
			t.Errorf("%s: %d handshakes", c.args, len(names))
		}
		mu.Unlock()
	}
}

// C50, and the names: what is trusted, what is not, and what the message names.
func TestTLSTrust(t *testing.T) {
	a := newAuthority(t)
	a.issue("localhost")
	other := newAuthority(t)
	s := useTLSFake(t, a.config("localhost"), nil)
	dir := filepath.Join(t.TempDir(), "trusted")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "README"), "no certificate")
	empty := t.TempDir()
	copyFile(t, other.path("ca.pem"), filepath.Join(dir, "1.pem"))
	copyFile(t, a.path("ca.pem"), filepath.Join(dir, "deadbeef.0"))
	const failed = `^Could not negotiate a TLS connection: certificate verify failed: `
	for _, c := range []struct {
		args string
		want want
	}{
		{"", bad(failed + `certificate signed by unknown authority .*--insecure`)},
		{"--insecure", good("SET")},
		{"--cacert CA", good("SET")}, // the address is not in the certificate: only --sni has the name checked
		{"--cacert OTHER", bad(failed)},
		{"--cacertdir " + dir, good("SET")},
		{"--cacertdir " + dir + " --cacert OTHER", good("SET")},
		{"--cacertdir " + empty, bad(`^ERROR: --cacertdir: no file in .* holds a certificate|--cacertdir: no file in`)},
		{"--cacert CA --sni localhost", good("SET")},
		{"--cacert CA --sni db.example", bad(failed + `certificate is valid for localhost, not db\.example`)},
		{"--cacert CA --sni db.example --insecure", good("SET")},
		{"--cacert " + filepath.Join(dir, "README"), bad(`--cacert: .*README holds no certificate in PEM form`)},
		{"--cacert CA --tls-ciphers ECDHE-ECDSA-CHACHA20-POLY1305", good("SET")},
		{"--cacert CA --tls-ciphers ECDHE-ECDSA-AES128-GCM-SHA256:NOSUCH", bad(`--tls-ciphers: no cipher suite "NOSUCH"`)},
		{"--cacert CA --tls-ciphers HIGH:!aNULL", bad(`--tls-ciphers: no cipher suite "HIGH"`)},
	} {
		t.Run(c.args, func(t *testing.T) {
			args := strings.ReplaceAll(strings.ReplaceAll(c.args, "CA", a.path("ca.pem")), "OTHER", other.path("ca.pem"))
			if strings.Contains(c.args, "tls-ciphers") {
				args = strings.ReplaceAll(c.args, "--cacert CA", "--insecure")
			}
			respbench(t, append(strings.Fields(args), "--tls", "-p", s.port(), "-c", "2", "-n", "10", "-q", "-t", "set")...).check(t, c.want)
		})
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	writeFile(t, to, readFile(t, from))
}

// The suite named is the one that is used, of TLS 1.2.
func TestTLSCiphers(t *testing.T) {
	a := newAuthority(t)
	a.issue("localhost")
	config := a.config("localhost")
	config.MaxVersion = tls.VersionTLS12
	var mu sync.Mutex
	used := map[uint16]bool{}
	config.VerifyConnection = func(s tls.ConnectionState) error {
		mu.Lock()
		defer mu.Unlock()
		used[s.CipherSuite] = true
		return nil
	}
	s := useTLSFake(t, config, nil)
	respbench(t, "--tls", "--insecure", "--tls-ciphers", "ECDHE-ECDSA-CHACHA20-POLY1305", "-p", s.port(), "-c", "2", "-n", "10", "-q", "-t", "set").check(t, good("SET"))
	respbench(t, "--tls", "--insecure", "--tls-ciphers", "ECDHE-RSA-AES128-GCM-SHA256", "-p", s.port(), "-c", "2", "-n", "10", "-q", "-t", "set").
		check(t, bad(`^Could not negotiate a TLS connection: TLS alert from the server: handshake failure \(no cipher suite in common, .*--cert and --key\)$`)) // the key is none of RSA's
	mu.Lock()
	defer mu.Unlock()
	if !used[tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256] || len(used) != 1 {
		t.Errorf("used the suites %v", used)
	}
}

// A server that wants to know its clients.
func TestTLSClientCertificate(t *testing.T) {
	a := newAuthority(t)
	a.issue("client")
	r, port := a.useTLSRedis("--tls-auth-clients", "yes")
	for _, engine := range engines() {
		base := []string{"--tls", "--cacert", a.path("ca.pem"), "-p", port, "-c", "4", "-n", "100", "-q", "-t", "set", "--engine", engine}
		respbench(t, append(base, "--cert", a.path("client.pem"), "--key", a.path("client.key"))...).check(t, good("SET"))
		respbench(t, base...).check(t, want{1, "!" + qRow, `\ACould not negotiate a TLS connection: TLS alert from the server: certificate required \(--cert and --key name the client's\)\n\z`})
		respbench(t, append(base, "-I")...).check(t, want{1, "", `TLS`})
	}
	if n := r.calls("set"); n != 100*len(engines()) {
		t.Errorf("%d SETs", n)
	}
}

// The options that name files fail before anything is connected to.
func TestTLSFiles(t *testing.T) {
	a := newAuthority(t)
	a.issue("client")
	a.issue("another")
	writeFile(t, a.path("secret.key"), "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n")
	for _, c := range []struct{ args, say string }{
		{"--cert CLIENT.pem --key " + a.path("secret.key"), `--key .*secret\.key: the key is encrypted`},
		{"--cert CLIENT.pem --key ANOTHER.key", `--cert .*client\.pem, --key .*another\.key: .*does not match`},
		{"--cert CLIENT.key --key CLIENT.key", `--cert .*client\.key`},
		{"--cert /nope --key CLIENT.key", `--cert /nope.*no such file`},
	} {
		args := strings.NewReplacer("CLIENT", a.path("client"), "ANOTHER", a.path("another")).Replace(c.args)
		s := useFake(t, "ok")
		respbench(t, append(strings.Fields(args), "--tls", "-p", s.port(), "-n", "4", "-q", "-t", "set")...).check(t, bad(c.say))
		if n := len(s.order); n != 0 {
			t.Errorf("%s: %d connections", c.args, n)
		}
	}
}
