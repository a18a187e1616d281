package netpoll

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// dribble sends every byte by itself, so that records and headers are cut everywhere.
type dribble struct{ net.Conn }

func (d dribble) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := d.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// TestTLSDribble has the server cut its handshake and its records at every byte.
func TestTLSDribble(t *testing.T) {
	eachTLS(t, func(t *testing.T, engine string, version uint16) {
		server, client := testConfigs(version)
		e := listen(t, func(conn net.Conn) {
			s := tls.Server(dribble{conn}, server)
			_, _ = io.Copy(s, s)
		})
		var want, got bytes.Buffer
		p := &probe{}
		p.opened = func(c Conn) {
			want.WriteString("first words")
			c.Write(want.Bytes())
		}
		p.data = func(c Conn, in *ChainBuffer) {
			take(&got, in)
			switch {
			case got.Len() < want.Len():
			case want.Len() > 4000:
				p.loop.Stop()
			default:
				more := bytes.Repeat([]byte{byte(want.Len())}, want.Len())
				want.Write(more)
				if n := c.Write(more); n != len(more) {
					t.Errorf("wrote %d of %d", n, len(more))
				}
			}
		}
		p.closed = func(_ Conn, err error) { t.Error(err); p.loop.Stop() }
		p.run(t, Options{Engine: engine, TLS: client}, Dial{Endpoint: e})
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%d bytes came back, not the %d that were sent", got.Len(), want.Len())
		}
	})
}

// TestTLSLarge sends more than any buffer holds to a server that reads slowly and answers with
// the same bytes: short writes, chunks that wrap, records across reads.
func TestTLSLarge(t *testing.T) {
	const size = 6 << 20
	eachTLS(t, func(t *testing.T, engine string, version uint16) {
		server, client := testConfigs(version)
		e := listen(t, func(conn net.Conn) {
			s := tls.Server(conn, server)
			all := make([]byte, size)
			if _, err := io.ReadFull(s, all); err == nil {
				_, _ = s.Write(all)
			}
			_, _ = io.Copy(io.Discard, s)
		})
		payload := make([]byte, size)
		rng := rand.New(rand.NewPCG(uint64(version), 1))
		for i := range payload {
			payload[i] = byte(rng.Uint32())
		}
		var got bytes.Buffer
		sent, calls := 0, 0
		send := func(c Conn) {
			for sent < size {
				rest := payload[sent:]
				var n, want int
				if calls++; calls%2 == 0 {
					want = min(len(rest), 300<<10)
					n = c.Write(rest[:want])
				} else {
					var bufs [][]byte
					for _, k := range []int{20, 70 << 10, 2, 0, 30, 16 << 10, 2} {
						k = min(k, len(rest))
						bufs, rest, want = append(bufs, rest[:k]), rest[k:], want+k
					}
					n = c.Writev(bufs)
				}
				if sent += n; n < want {
					return
				}
			}
		}
		p := &probe{opened: send, writable: send}
		p.data = func(_ Conn, in *ChainBuffer) {
			if take(&got, in); got.Len() >= size {
				p.loop.Stop()
			}
		}
		p.closed = func(_ Conn, err error) { t.Error(err); p.loop.Stop() }
		p.run(t, Options{Engine: engine, TLS: client}, Dial{Endpoint: e})
		if !bytes.Equal(got.Bytes(), payload) {
			t.Errorf("%d bytes came back that are not those sent", got.Len())
		}
	})
}

// TestTLSEnd: what the server said before its close_notify is delivered first, then io.EOF.
func TestTLSEnd(t *testing.T) {
	eachTLS(t, func(t *testing.T, engine string, version uint16) {
		server, client := testConfigs(version)
		e := listen(t, func(conn net.Conn) {
			s := tls.Server(conn, server)
			_, _ = s.Write([]byte("last words"))
			_ = s.CloseWrite() // half: it still reads
			_, _ = io.Copy(io.Discard, s)
		})
		var got bytes.Buffer
		var end error
		p := &probe{data: func(_ Conn, in *ChainBuffer) { take(&got, in) }}
		p.closed = func(_ Conn, err error) { end = err; p.loop.Stop() }
		p.run(t, Options{Engine: engine, TLS: client}, Dial{Endpoint: e})
		if got.String() != "last words" || end != io.EOF {
			t.Errorf("got %q, then %v", got.String(), end)
		}
	})
}

// TestTLSReconnect closes and dials again from within Data; sessions are resumed.
func TestTLSReconnect(t *testing.T) {
	const times, clients = 20, 4
	eachTLS(t, func(t *testing.T, engine string, version uint16) {
		server, client := testConfigs(version)
		var full, resumed atomic.Int64
		e := listen(t, func(conn net.Conn) {
			s := tls.Server(conn, server)
			if s.Handshake() != nil {
				return
			}
			if s.ConnectionState().DidResume {
				resumed.Add(1)
			} else {
				full.Add(1)
			}
			_, _ = io.Copy(s, s)
		})
		left, open := times*clients, clients
		p := &probe{opened: func(c Conn) { c.Write([]byte{byte(c.Tag())}) }}
		p.data = func(c Conn, in *ChainBuffer) {
			if in.Len() != 1 || in.Segment()[0] != byte(c.Tag()) {
				t.Errorf("connection %d got %q", c.Tag(), in.Linear())
			}
			in.Discard(in.Len())
			c.Close()
			if left--; left >= clients {
				p.loop.Dial(Dial{Endpoint: e, Tag: c.Tag()})
			} else if open--; open == 0 {
				p.loop.Stop()
			}
		}
		p.closed = func(_ Conn, err error) { t.Error(err); p.loop.Stop() }
		var dials []Dial
		for i := range clients {
			dials = append(dials, Dial{Endpoint: e, Tag: i})
		}
		p.run(t, Options{Engine: engine, TLS: client}, dials...)
		if f, r := full.Load(), resumed.Load(); f+r != times*clients || f > clients {
			t.Errorf("%d full handshakes and %d resumed of %d connections", f, r, times*clients)
		}
	})
}

// TestTLSSetups: a server that accepts one connection each 30 ms and gives a handshake a second is
// shaken hands with as the sockets connect, and more connections than places are all made.
func TestTLSSetups(t *testing.T) {
	const clients = tlsSetups + 20
	for _, engine := range Engines() {
		t.Run("engine="+engine, func(t *testing.T) {
			server, client := testConfigs(tls.VersionTLS13)
			gate := make(chan struct{}, 1)
			e := listen(t, func(conn net.Conn) {
				gate <- struct{}{}
				time.AfterFunc(30*time.Millisecond, func() { <-gate })
				_ = conn.SetDeadline(time.Now().Add(time.Second))
				s := tls.Server(conn, server)
				if s.Handshake() != nil {
					return
				}
				_ = conn.SetDeadline(time.Time{})
				_, _ = io.Copy(io.Discard, s)
			})
			open := 0
			p := &probe{}
			p.opened = func(Conn) {
				if open++; open == clients {
					p.loop.Stop()
				}
			}
			p.closed = func(_ Conn, err error) { t.Error(err); p.loop.Stop() }
			var dials []Dial
			for i := range clients {
				dials = append(dials, Dial{Endpoint: e, Tag: i})
			}
			p.run(t, Options{Engine: engine, TLS: client}, dials...)
			if open != clients {
				t.Errorf("%d connections of %d", open, clients)
			}
		})
	}
}

// TestTLSRefused lists the ways in which TLS is not agreed upon, and what Closed says.
func TestTLSRefused(t *testing.T) {
	server, client := testConfigs(tls.VersionTLS13)
	demanding := server.Clone()
	demanding.ClientAuth = tls.RequireAnyClientCert
	shake := func(c *tls.Config) func(net.Conn) {
		return func(conn net.Conn) {
			s := tls.Server(conn, c)
			if s.Handshake() == nil {
				_, _ = io.Copy(io.Discard, s)
			}
		}
	}
	old := client.Clone()
	old.MaxVersion = tls.VersionTLS12
	for _, tc := range []struct {
		name   string
		serve  func(net.Conn)
		config *tls.Config
		is     error
		text   string
	}{
		{"silence", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, client, os.ErrDeadlineExceeded, ""},
		{"hangs up", func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) }, client, nil, ""},
		{"speaks RESP", func(c net.Conn) {
			_, _ = io.WriteString(c, "-ERR unknown command\r\n")
			_, _ = io.Copy(io.Discard, c)
		}, client, nil, "does not look like a TLS handshake"},
		{"no common version", shake(server), old, nil, "protocol version not supported"},
		{"unknown authority", shake(server), &tls.Config{}, nil, "certificate"},
		{"wants a certificate", shake(demanding), client, nil, "certificate required"},
	} {
		for _, engine := range Engines() {
			t.Run(tc.name+"/engine="+engine, func(t *testing.T) {
				limit := time.Duration(0)
				if tc.is == os.ErrDeadlineExceeded {
					limit = 200 * time.Millisecond
				}
				var end error
				p := &probe{closed: nil}
				p.closed = func(_ Conn, err error) { end = err; p.loop.Stop() }
				p.run(t, Options{Engine: engine, TLS: tc.config, HandshakeTimeout: limit}, Dial{Endpoint: listen(t, tc.serve)})
				var hs *HandshakeError
				late := tc.name == "wants a certificate" // the client is done before the server judges
				switch {
				case end == nil || !late && !errors.As(end, &hs):
					t.Errorf("%v is no HandshakeError", end)
				case tc.is != nil && !errors.Is(end, tc.is):
					t.Errorf("%v is not %v", end, tc.is)
				case !strings.Contains(end.Error(), tc.text):
					t.Errorf("%q lacks %q", end, tc.text)
				}
			})
		}
	}
}

// TestTLSNames: the name sent is the one configured, else the host when it is none but a name.
func TestTLSNames(t *testing.T) {
	for _, tc := range []struct{ host, name, sent string }{
		{"localhost", "", "localhost"}, {"127.0.0.1", "", ""}, {"127.0.0.1", "db.example", "db.example"},
	} {
		server, client := testConfigs(tls.VersionTLS13)
		client.ServerName, client.InsecureSkipVerify = tc.name, true
		sent := make(chan string, 1)
		server.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			sent <- h.ServerName
			return nil, nil
		}
		e := listen(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, tls.Server(conn, server)) })
		e.Host = tc.host
		p := &probe{}
		p.opened = func(Conn) { p.loop.Stop() }
		p.closed = func(_ Conn, err error) { t.Error(err); p.loop.Stop() }
		p.run(t, Options{TLS: client}, Dial{Endpoint: e})
		if got := <-sent; got != tc.sent {
			t.Errorf("-h %s --sni %q sends %q, not %q", tc.host, tc.name, got, tc.sent)
		}
	}
}

// TestTLSTicks: the handler is told of its own deadlines and wakes, not of each handshake's.
func TestTLSTicks(t *testing.T) {
	server, client := testConfigs(tls.VersionTLS13)
	e := listen(t, func(conn net.Conn) {
		s := tls.Server(conn, server)
		_, _ = io.Copy(s, s)
	})
	for _, engine := range Engines() {
		ticks := 0
		p := &probe{}
		p.opened = func(Conn) {
			if ticks != 0 {
				t.Errorf("%s: %d ticks during the handshake", engine, ticks)
			}
			p.loop.Wake()
		}
		p.tick = func(now int64) {
			switch ticks++; ticks {
			case 1:
				p.loop.SetDeadline(now + int64(2*time.Millisecond))
			case 2:
				p.loop.Stop()
			}
		}
		p.closed = func(_ Conn, err error) { t.Error(err); p.loop.Stop() }
		p.run(t, Options{Engine: engine, TLS: client}, Dial{Endpoint: e})
		if ticks != 2 {
			t.Errorf("%s: %d ticks, not 2", engine, ticks)
		}
	}
}
