package main

import (
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Whole-program tests against servers that answer in a wrong or unusual way. Case numbers are those of the collection
// of public bug reports; each row says the symptom it stands for.

// engines are those this system has.
func engines() []string {
	if runtime.GOOS == "linux" {
		return []string{"epoll", "gnet"}
	}
	return []string{"gnet"}
}

// reply is the spec of a fake that answers each load command with the same bytes.
func reply(bytes string) string { return "reply:" + strconv.Quote(bytes) }

// fakeCase is a run against a fake.
type fakeCase struct {
	name string
	fake string
	args string // behind -p PORT -q
	want want
}

func runFakeCases(t *testing.T, cases []fakeCase) {
	for _, engine := range engines() {
		for _, c := range cases {
			t.Run(c.name+"/engine="+engine, func(t *testing.T) {
				t.Parallel()
				s := useFake(t, c.fake)
				args := append([]string{"-p", s.port(), "--engine", engine, "-q"}, strings.Fields(c.args)...)
				respbench(t, args...).check(t, c.want)
			})
		}
	}
}

// good is the outcome of a finished test called title.
func good(title string) want { return want{0, `(?s)^` + title + `: [0-9.]+ ` + qRow, ""} }

// bad is an outcome of exit code 1 with a message and no row of figures.
func bad(message string) want { return want{1, "!" + qRow, message} }

const loadOf20 = "-c 2 -n 20 -t set"

// Commands that are not answered by one reply are refused before anything is sent.
func TestOneReplyEach(t *testing.T) {
	s := useFake(t, "ok")
	for _, c := range []struct{ args, say string }{
		{"SUBSCRIBE a b c", `^SUBSCRIBE cannot be measured: it is answered once for each channel, and one reply is awaited \(name one channel\)$`},
		{"-3 subscribe a", `^SUBSCRIBE cannot be measured: with RESP3 \(-3\) it is answered by push messages`},
		{"PING ; punsubscribe a b", `^PUNSUBSCRIBE cannot be measured: `},
		{"MONITOR", `^MONITOR cannot be measured: it makes the connection a stream`},
		{"psync ? -1", `^PSYNC cannot be measured: `},
		{"CLIENT REPLY SKIP", `^CLIENT REPLY cannot be measured: it keeps the server from answering$`},
		{"--mode mixed --mix 1:MONITOR", `^MONITOR cannot be measured: `},
	} {
		respbench(t, append([]string{"-p", s.port(), "-q", "-n", "10"}, strings.Fields(c.args)...)...).check(t, bad(c.say))
	}
	if n := len(s.firstCommands()); n != 0 {
		t.Errorf("%d connections were made", n)
	}
	for _, args := range []string{"subscribe a", "-3 publish a b", "client reply on", "client id"} {
		respbench(t, append([]string{"-p", s.port(), "-q", "-n", "10"}, strings.Fields(args)...)...).check(t, want{0, qRow, "!."})
	}
}

func TestReplies(t *testing.T) {
	set := good("SET")
	runFakeCases(t, []fakeCase{
		{"C51 one byte at a time", "byte", loadOf20, set},
		{"C53 HTTP", reply("HTTP/1.1 400 Bad Request\r\n\r\n"), loadOf20, bad(`^Error: Protocol error, got "H" as reply type byte`)},
		{"C53 text", reply("hello\r\n"), loadOf20, bad(`^Error: Protocol error, got "h" as reply type byte`)},
		{"C53 blank line", reply("\r\n"), loadOf20, bad(`^Error: Protocol error, got "\\r" as reply type byte`)},
		{"C53 binary", reply("\xf0"), loadOf20, bad(`^Error: Protocol error, got "\\xf0" as reply type byte`)},

		{"C54 greatest integer", reply(":9223372036854775807\r\n"), loadOf20, set},
		{"C54 least integer", reply(":-9223372036854775808\r\n"), loadOf20, set},
		{"C54 one above", reply(":9223372036854775808\r\n"), loadOf20, bad(`^Error: Bad integer value`)},
		{"C54 letter", reply(":12x\r\n"), loadOf20, bad(`^Error: Bad integer value`)},
		{"C54 plus", reply(":+5\r\n"), loadOf20, bad(`^Error: Bad integer value`)},
		{"C54 empty", reply(":\r\n"), loadOf20, bad(`^Error: Bad integer value`)},
		{"C54 minus zero", reply(":-0\r\n"), loadOf20, bad(`^Error: Bad integer value`)},
		{"C54 fraction", reply(":1.5\r\n"), loadOf20, bad(`^Error: Bad integer value`)},

		{"C55 bulk -2", reply("$-2\r\n"), loadOf20, bad(`^Error: Bulk string length out of range`)},
		{"C55 array -2", reply("*-2\r\n"), loadOf20, bad(`^Error: Multi-bulk length out of range`)},
		{"more elements than a reply may have", reply("*2147483647\r\n"), loadOf20, bad(`^Error: Multi-bulk length out of range`)},
		{"C55 map -1", reply("%-1\r\n"), loadOf20, bad(`^Error: `)},
		{"C55 least bulk", reply("$-9223372036854775808\r\n"), loadOf20, bad(`^Error: Bulk string length out of range`)},
		{"C56 length of 2^32", reply("$4294967296\r\n\r\n+INJ\r\n"), loadOf20, bad(`^Error: Bulk string length out of range`)},
		{"C56 colon as digit", reply("$0:\r\n"), loadOf20, bad(`^Error: Bad bulk string length`)},
		{"C56 above 2^64", reply("$18446744073709551621\r\n"), loadOf20, bad(`^Error: B(ad|ulk) `)},
		{"C56 leading zero", reply("$05\r\nhello\r\n"), loadOf20, bad(`^Error: Bad bulk string length`)},
		{"C57 greatest length", reply("$9223372036854775807\r\n"), loadOf20, bad(`^Error: Bulk string length out of range`)},
		{"C57 one below", reply("$9223372036854775806\r\n"), loadOf20, bad(`^Error: Bulk string length out of range`)},
		{"C59 over 512 MB", reply("$536870913\r\n"), loadOf20, bad(`^Error: Bulk string length out of range`)},

		{"C60 depth 9", reply(strings.Repeat("*1\r\n", 9) + ":1\r\n"), loadOf20, set},
		{"C60 depth 1024", reply(strings.Repeat("*1\r\n", 1024) + ":1\r\n"), loadOf20, set},
		{"C60 depth 1025", reply(strings.Repeat("*1\r\n", 1025) + ":1\r\n"), loadOf20, bad(`^Error: .*nesting`)},
		{"C60 depth 200000", reply(strings.Repeat("*1\r\n", 200000) + ":1\r\n"), loadOf20, bad(`^Error: .*nesting`)},

		{"C61 two replies for one", "two", "-c 1 -n 20 -P 4 -t set", bad(`reply without a pending request`)},
		{"C61 two replies for one of a probe", "two", "--mode get --requests 20 --keyspace 10", bad(`^Error: reply without a pending request$`)},
		{"C61 the same at the end of a probe", "two", "--mode get --requests 20 --keyspace 1", bad(`^Error: reply without a pending request$`)},
		{"the offset counts the replies to the set-up", reply("\x15\r\n"), "-3 -c 1 -n 20 -t set", bad(`^Error: Protocol error, got "\\x15" as reply type byte \(byte 16\)$`)},
		{"the second reply to the set-up is wrong", reply("+OK\r+"), "-a pw --dbnum 2 -c 1 -n 20 -t set", bad(`^Error: Reply line not ended by CRLF \(byte 4\)$`)},
		{"an error without a text", reply("-\r\n"), loadOf20, bad(`^Error from server: \(an error reply without a text\)$`)},
		{"an error in place of a greeting", "denied", "-c 3 -n 20 -t set", bad(`^Error from server: DENIED Redis is running in protected mode$`)},
		{"the same to idle connections", "denied", "-c 3 -I", bad(`^Error from server: DENIED Redis is running in protected mode$`)},
		{"an error behind a push to idle connections", "pushdenied", "-c 3 -I", bad(`^Error from server: DENIED Redis is running in protected mode$`)},
		{"push before the load", "pushing", "-c 3 -n 20 -t set", set},
		{"control characters in an error", reply("-ERR a\x1b[31m\tb\r\n"), loadOf20, bad(`^Error from server: ERR a\\x1b\[31m\\tb$`)},
		{"an error of two lines", reply("!7\r\nERR\r\nxy\r\n"), loadOf20, bad(`^Error from server: ERR\\r\\nxy$`)},
		{"C61 greeting", "greeting", "-c 1 -n 20 -t set", bad(`reply without a pending request`)},
		{"C62 bulk without its end", reply("$3\r\nabcXX"), loadOf20, bad(`^Error: `)},
		{"C63 empty bulk", reply("$0\r\n\r\n"), "-n 20 -t get", good("GET")},
		{"C65 long line", reply("+" + strings.Repeat("x", 5000) + "\r\n"), loadOf20, set},
		{"C65 long error", reply("-ERR " + strings.Repeat("x", 70000) + "\r\n"), loadOf20, bad(`^Error from server: ERR xxxx`)},
		{"C65 line of 1 MB", reply("+" + strings.Repeat("x", 1<<20) + "\r\n"), loadOf20, set},
		{"C66 null bulk", reply("$-1\r\n"), loadOf20, set},
		{"C66 null array", reply("*-1\r\n"), loadOf20, set},
		{"C66 null", reply("_\r\n"), loadOf20, set},
		{"C66 empty array", reply("*0\r\n"), loadOf20, set},
		{"a reply of 100 MB", "bulk:100000000", "-c 1 -n 1 get big", good("get big")},
	})
}

func TestRESP3Replies(t *testing.T) {
	set := good("SET")
	runFakeCases(t, []fakeCase{
		{"C67 push before", reply(">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n+OK\r\n"), "-c 1 -P 4 -n 20 -t set", set},
		{"C67 push behind", reply("+OK\r\n>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n"), "-c 1 -P 4 -n 20 -t set", set},
		{"C67 push inside", reply("*1\r\n>1\r\n+x\r\n"), loadOf20, bad(`^Error: `)},
		{"C68 infinite", reply(",inf\r\n"), loadOf20, set},
		{"C68 minus infinite", reply(",-inf\r\n"), loadOf20, set},
		{"C68 not a number", reply(",nan\r\n"), loadOf20, set},
		{"C68 exponent", reply(",1e3\r\n"), loadOf20, set},
		{"C68 true", reply("#t\r\n"), loadOf20, set},
		{"C68 neither", reply("#x\r\n"), loadOf20, bad(`^Error: Bad bool value`)},
		{"C68 big number", reply("(3492890328409238509324850943850943825024385\r\n"), loadOf20, set},
		{"C68 verbatim", reply("=7\r\ntxt:abc\r\n"), loadOf20, set},
		{"C68 bulk error", reply("!10\r\nERR syntax\r\n"), loadOf20, bad(`^Error from server: ERR syntax`)},
		{"C68 attribute", reply("|1\r\n+ttl\r\n:3600\r\n+OK\r\n"), loadOf20, set},
		{"C68 set", reply("~1\r\n:1\r\n"), loadOf20, set},
		{"C68 map", reply("%1\r\n+a\r\n:1\r\n"), loadOf20, set},
		{"C68 streamed", reply("$?\r\n;3\r\nabc\r\n;0\r\n"), loadOf20, bad(`^Error: Streamed`)},
	})
}

func TestErrorReplies(t *testing.T) {
	runFakeCases(t, []fakeCase{
		{"C38 no password", reply("-NOAUTH Authentication required.\r\n"), "-n 4 -c 1 -t set", bad(`NOAUTH Authentication required\.$`)},
		{"C69 out of memory", reply("-OOM command not allowed when used memory > 'maxmemory'.\r\n"), "-n 10 foo",
			bad(`^Error from server: OOM command not allowed when used memory > 'maxmemory'\.$`)},
		{"C69 loading", reply("-LOADING Redis is loading the dataset in memory\r\n"), "-n 10 foo",
			bad(`^Error from server: LOADING Redis is loading the dataset in memory$`)},
		{"C69 try again", reply("-TRYAGAIN Multiple keys request during rehashing of slot\r\n"), "-n 10 foo", bad(`^Error from server: TRYAGAIN`)},
		{"C69 empty text", reply("-\r\n"), "-n 10 foo", bad(`^Error from server: \(an error reply without a text\)$`)},
		{"C69 in the middle", "errat:7", "-c 3 -n 20 -t set", bad(`^Error from server: ERR boom at 7$`)},
		{"C69 in a pipeline", "errat:7", "-c 1 -P 20 -n 100 -t set", bad(`^Error from server: ERR boom at 7$`)},
		{"C119 moved", reply("-MOVED 3999 127.0.0.1:7001\r\n"), loadOf20, bad(`^Error from server: MOVED 3999 127\.0\.0\.1:7001$`)},
		{"C119 moved in bench mode", reply("-MOVED 3999 127.0.0.1:7001\r\n"), "--mode set --requests 20", want{1, "", "MOVED"}},
		{"errors are counted", "errat:7", "--on-error count -c 3 -n 20 -t set", want{1, `^SET: [0-9.]+ ` + qRow, `boom at 7`}},
		{"counted errors do not end the tests", "errat:7", "--on-error count -c 3 -n 20 -t set,get", want{1, `(?m)^GET: [0-9.]+ ` + qRow, `^SET: error replies: 1 of 20 \(5\.00%\)\n  1 x ERR boom at 7$`}},
		{"an error within a reply", reply("*2\r\n:1\r\n-WRONGTYPE Operation against a key\r\n"), "-n 10 exec", bad(`^Error from server: WRONGTYPE Operation against a key$`)},
		{"errors within replies are counted", reply("*1\r\n-ERR x\r\n"), "--on-error count -n 10 exec", want{1, qRow, `^exec: error replies: 10 of 10 \(100\.00%\)\n  10 x ERR x$`}},
		{"an error of the warm-up ends the run", "errat:1", "--warmup 0.1 -n 20 -t set", bad(`^Error from server: ERR boom at 1$`)},
		{"C72 no HELLO, not asked", "nohello", "-n 20 -t set", good("SET")},
		{"C72 no HELLO, asked", "nohello", "-3 -n 20 -t set", bad(`^Error from server: ERR unknown command 'HELLO'$`)},
		{"C72 wrong version", "noproto", "-3 -n 20 -t set", bad(`^Error from server: NOPROTO unsupported protocol version$`)},
		{"C73 CONFIG unknown", "cfgerr", "-n 20 -t set", want{0, `^SET: [0-9.]+ ` + qRow, `^WARNING: Could not fetch server CONFIG$`}},
		{"C73 CONFIG empty", "cfgempty", "-n 20 -t set", want{0, `^SET: [0-9.]+ ` + qRow, `^WARNING: Could not fetch server CONFIG$`}},
		{"C73 CONFIG closes", "cfgclose", "-n 20 -t set", want{0, `^SET: [0-9.]+ ` + qRow, `^WARNING: Could not fetch server CONFIG$`}},
		{"CONFIG without end", "cfgendless", "-n 20 -t set --connect-timeout 0", want{0, `^SET: [0-9.]+ ` + qRow, `^WARNING: Could not fetch server CONFIG$`}},
		{"HELLO without end", "helloendless", "-3 -n 20 -t set --connect-timeout 0", bad(`^Error: the reply from 127\.0\.0\.1:\d+ to AUTH, SELECT or HELLO does not end within 1 MiB$`)},
		{"C38 CONFIG needs a password", "noauthcfg", "-n 20 -t set", bad(`(?s)^Node 127\.0\.0\.1:\d+ replied with error:\nNOAUTH Authentication required\.$`)},
	})
}

// Error replies of the warm-up are in no count, but not hidden: a report without room for notes has them on stderr.
func TestErrorsOfTheWarmup(t *testing.T) {
	for _, c := range []struct{ args, stdout, stderr string }{
		{"-q", `^SET: [0-9.]+ ` + qRow, `^WARNING: SET: the warm-up had 1 error reply, most often ERR boom at 1$`},
		{"--server-info=false", `^  note: the warm-up had 1 error reply, most often ERR boom at 1$`, `!.`},
	} {
		timed(t, func() string { // a process that waits for a processor may come when the warm-up is over
			args := append(strings.Fields("--on-error count --warmup 0.3 -n 20 -t set -p "+useFake(t, "errat:1").port()), c.args)
			if o := respbench(t, args...); o.code != 0 || !matches(o.stdout, c.stdout) || !matches(o.stderr, c.stderr) {
				return fmt.Sprintf("exit code %d, stdout %q, stderr %q", o.code, o.stdout, o.stderr)
			}
			return ""
		})
	}
}

// A reply of another type than the value's is a mismatch, and shown.
func TestVerifiedRepliesOfAnotherType(t *testing.T) {
	for wire, got := range map[string]string{"+OK\r\n": "+OK", ":5\r\n": ":5", "*1\r\n$1\r\na\r\n": "*1", ",inf\r\n": ",inf", "=7\r\ntxt:abc\r\n": "=7", "#t\r\n": "#1"} {
		respbench(t, "-p", useFake(t, reply(wire)).port(), "--mode", "get", "--requests", "3", "--prefill", "never", "--verify-get").
			check(t, want{4, `mismatch: key=bench:key:\d+ offset=none \(no bulk string\) expected=".{32}" got="` + regexp.QuoteMeta(got) + `"`, ""})
	}
}

// C72: the reply to HELLO is no load, and without -3 there is no HELLO.
func TestHelloIsNotCounted(t *testing.T) {
	for _, c := range []struct {
		flag  string
		hello bool
	}{{"-q", false}, {"-3", true}} {
		s := useFake(t, "ok")
		respbench(t, "-p", s.port(), c.flag, "-q", "-c", "3", "-n", "20", "-t", "set").check(t, good("SET"))
		if got := s.called("HELLO"); (got > 0) != c.hello {
			t.Errorf("%s: %d HELLO", c.flag, got)
		}
		if got := s.called("SET"); got != 20 {
			t.Errorf("%s: %d SET, want 20", c.flag, got)
		}
	}
}

// C71: a server that is still loading is an error, unless --wait allows for it.
func TestWaitForLoadingServer(t *testing.T) {
	respbench(t, "-p", useFake(t, "loading:60000").port(), "-q", "-n", "10", "ping").check(t, bad(`^Error from server: LOADING`))
	respbench(t, "-p", useFake(t, "loading:700").port(), "-q", "-n", "10", "--wait", "5", "ping").check(t, good("ping"))
}

// C74: values around the sizes of every buffer, verified byte by byte, under both engines.
func TestBigValuesVerify(t *testing.T) {
	r := useRedis(t)
	for _, engine := range engines() {
		for _, size := range []int{0, 1, 65535, 65536, 65537, 262143, 262144, 262145, 300000} {
			t.Run(fmt.Sprintf("engine=%s/size=%d", engine, size), func(t *testing.T) {
				prefix := fmt.Sprintf("k%d:", size)
				respbench(t, "-p", r.port, "--engine", engine, "--mode", "get", "--requests", "400", "--pipeline", "8", "-c", "8",
					"--keyspace", "20", "--value-size", strconv.Itoa(size), "--key-prefix", prefix, "--verify-get").
					check(t, want{0, `ok=400 errors=0 conflicts=0 misses=0 mismatches=0`, ""})
			})
		}
	}
}
