package main

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"respbench/runner"
)

// parsed is what a command line made of itself without a runner behind it.
type parsed struct {
	opts           runner.Options
	ran            bool
	code           int
	stdout, stderr string
}

// parse runs the whole program but for the measurement.
func parse(t *testing.T, argv ...string) parsed {
	t.Helper()
	t.Setenv(passwordVariable, "")
	return parseAs(t, "respbench", "", argv...)
}

func parseAs(t *testing.T, name, stdin string, argv ...string) parsed {
	t.Helper()
	var p parsed
	var stdout, stderr bytes.Buffer
	a := app{programOf([]string{name}), strings.NewReader(stdin), &stdout, &stderr, nil}
	a.measure = func(_ context.Context, o runner.Options, _ runner.IO) error {
		p.opts, p.ran = o, true
		return nil
	}
	err := a.execute(context.Background(), argv)
	p.code = finish(err, a.program, &stderr)
	p.stdout, p.stderr = stdout.String(), stderr.String()
	return p
}

func TestOptionsAreUnderstood(t *testing.T) {
	type o = *runner.Options
	for _, c := range []struct {
		argv string
		got  func(o) any
		want any
	}{
		// Defaults of both modes.
		{"", func(o o) any { return o.Mode }, runner.Classic},
		{"", func(o o) any { return o.Load.Clients }, 50},
		{"", func(o o) any { return o.Load.Requests }, int64(100000)},
		{"", func(o o) any { return o.Load.Pipeline }, 1},
		{"", func(o o) any { return o.Load.Threads }, 1},
		{"", func(o o) any { return o.Load.Threaded }, false},
		{"", func(o o) any { return o.Classic.DataSize }, 3},
		{"", func(o o) any { return o.Output.Precision }, 3},
		{"", func(o o) any { return o.Load.OnError }, runner.StopOnError},
		{"", func(o o) any { return o.Load.Timeout }, 30 * time.Second},
		{"", func(o o) any { return o.Load.ConnectTimeout }, 5 * time.Second},
		{"", func(o o) any { return o.Target.Host + " " + o.Target.Socket }, "127.0.0.1 "},
		{"--mode mixed", func(o o) any { return o.Mode }, runner.Bench},
		{"--mode mixed", func(o o) any { return o.Load.Clients }, 1},
		{"--mode mixed", func(o o) any { return o.Load.Requests }, int64(1000000)},
		{"--mode mixed", func(o o) any { return o.Load.Pipeline }, 64},
		{"--mode mixed", func(o o) any { return o.Load.OnError }, runner.CountErrors},
		{"--verify-get", func(o o) any { return o.Bench }, runner.BenchOptions{Op: "mixed", Keyspace: 100000, ValueSize: 32,
			SetRatio: 50, SetCmd: "SET", GetCmd: "GET", KeyPrefix: "bench:key:", Verify: true}},
		// Short names in bench.c mode are its own; the later of two wins.
		{"--mode set -n 7 -P 8 -d 9 -r 10 -h a -p 11 -c 12", func(o o) any {
			return []int64{o.Load.Requests, int64(o.Load.Pipeline), int64(o.Bench.ValueSize), o.Bench.Keyspace,
				int64(o.Target.Port), int64(o.Load.Clients)}
		}, []int64{7, 8, 9, 10, 11, 12}},
		{"--requests 5 -n 6", func(o o) any { return o.Load.Requests }, int64(6)},
		{"-n 6 --requests 5", func(o o) any { return o.Load.Requests }, int64(5)},
		{"--value-size 0", func(o o) any { return o.Bench.ValueSize }, 0},
		{"--value-size 64-4096", func(o o) any { return o.Bench.ValueSizes }, "64-4096"},
		{"--value-size=64:90,4096:10", func(o o) any { return o.Bench.ValueSizes }, "64:90,4096:10"},
		{"--host x --port 5", func(o o) any { return o.Mode }, runner.Classic},
		{"-n 5", func(o o) any { return o.Mode }, runner.Classic},
		{"--prefill always", func(o o) any { return o.Bench.Prefill }, runner.PrefillAlways},
		{"--mix 8:GET --mix 1:SET", func(o o) any { return o.Bench.Mix }, []string{"8:GET", "1:SET"}},
		// Spellings.
		{"-n1000", func(o o) any { return o.Load.Requests }, int64(1000)},
		{"-n=1000", func(o o) any { return o.Load.Requests }, int64(1000)},
		{"-qn5", func(o o) any { return o.Output.Quiet && o.Load.Requests == 5 }, true},
		{"--seed=5", func(o o) any { return o.Seed }, uint64(5)},
		{"--csv=false", func(o o) any { return o.Output.CSV }, false},
		{"-3", func(o o) any { return o.Target.RESP3 }, true},
		{"-c 3 -c 4", func(o o) any { return o.Load.Clients }, 4},
		{"-t set -t get", func(o o) any { return o.Classic.Tests }, []string{"get"}},
		{"-t SET,Get", func(o o) any { return o.Classic.Tests }, []string{"set", "get"}},
		{"-t set,nosuch", func(o o) any { return o.Classic.Tests }, []string{"set"}},
		// Where the command begins.
		{"-n 1 set k -1", func(o o) any { return o.Classic.Command }, []string{"set", "k", "-1"}},
		{"set k v -n 5 --foo -q", func(o o) any { return o.Classic.Command }, []string{"set", "k", "v", "-n", "5", "--foo", "-q"}},
		{"-n 1 -- set k v", func(o o) any { return o.Classic.Command }, []string{"set", "k", "v"}},
		{"-- -x y", func(o o) any { return o.Classic.Command }, []string{"-x", "y"}},
		{"-q - x", func(o o) any { return o.Classic.Command }, []string{"-", "x"}},
		{"set a -- b", func(o o) any { return o.Classic.Command }, []string{"set", "a", "--", "b"}},
		{"-n 5 serve", func(o o) any { return o.Classic.Command }, []string{"serve"}},
		{"-n 5 completion bash", func(o o) any { return o.Classic.Command }, []string{"completion", "bash"}},
		{"-n 5 __complete", func(o o) any { return o.Classic.Command }, []string{"__complete"}},
		{"-- help", func(o o) any { return o.Classic.Command }, []string{"help"}},
		{"-- serve", func(o o) any { return o.Classic.Command }, []string{"serve"}},
		{"HELP", func(o o) any { return o.Classic.Command }, []string{"HELP"}},
		{"set -host x", func(o o) any { return o.Classic.Command }, []string{"set", "-host", "x"}},
		// 0 means 1, and what redis-benchmark clamps.
		{"-c 0 -P 0 -d 0", func(o o) any { return []int{o.Load.Clients, o.Load.Pipeline, o.Classic.DataSize} }, []int{1, 1, 1}},
		{"-d -1", func(o o) any { return o.Classic.DataSize }, 1},
		{"-d 2000000000", func(o o) any { return o.Classic.DataSize }, 1 << 30},
		{"--threads 0", func(o o) any { return []any{o.Load.Threads, o.Load.Threaded} }, []any{1, false}},
		{"--threads 1", func(o o) any { return []any{o.Load.Threads, o.Load.Threaded} }, []any{1, true}},
		{"--threads 100000", func(o o) any { return o.Load.Threads }, 500},
		{"--precision 9", func(o o) any { return o.Output.Precision }, 4},
		{"--precision 0", func(o o) any { return o.Output.Precision }, 0},
		{"--precision -1", func(o o) any { return o.Output.Precision }, 3},
		{"-k 0 -P 5", func(o o) any { return o.Load.Reconnect }, int64(5)},
		{"-k 2", func(o o) any { return o.Load.Reconnect }, int64(0)},
		{"--reconnect 7", func(o o) any { return o.Load.Reconnect }, int64(7)},
		{"", func(o o) any { return o.Classic.Random }, false},
		{"-r 0", func(o o) any { return []any{o.Classic.Random, o.Classic.Keyspace} }, []any{true, int64(1)}},
		{"-r 3000000000", func(o o) any { return o.Classic.Keyspace }, int64(3000000000)},
		{"-r 999999999999999", func(o o) any { return o.Classic.Keyspace }, int64(1e12)},
		{"-n 4294967297", func(o o) any { return o.Load.Requests }, int64(4294967297)},
		{"--seed 18446744073709551615", func(o o) any { return o.Seed }, uint64(math.MaxUint64)},
		{"--seed 0", func(o o) any { return o.Seed }, uint64(0)},
		// Time and pace.
		{"--duration 0.5", func(o o) any { return o.Load.Duration }, 500 * time.Millisecond},
		{"--warmup 1m30s", func(o o) any { return o.Load.Warmup }, 90 * time.Second},
		{"--rps 10k", func(o o) any { return o.Load.Rate.PerSecond }, 10000.0},
		{"--rps 0.5", func(o o) any { return o.Load.Rate.PerSecond }, 0.5},
		{"--rps 5 --rps 0", func(o o) any { return o.Load.Rate.PerSecond }, 0.0},
		{"--rps 10k:60s,20k:1m", func(o o) any { return o.Load.Schedule },
			[]runner.RateStep{{From: 10000, To: 10000, For: time.Minute}, {From: 20000, To: 20000, For: time.Minute}}},
		{"--rps 1k..50k:60", func(o o) any { return o.Load.Schedule }, []runner.RateStep{{From: 1000, To: 50000, For: time.Minute}}},
		{"--rps 10k:60s,20k:1m", func(o o) any { return o.Load.Duration }, 2 * time.Minute},
		{"--rps 10k:60s -n 5", func(o o) any { return []any{o.Load.Duration, o.Load.Requests} }, []any{time.Duration(0), int64(5)}},
		{"--rps 0..1k:60,0:1,10..0:5", func(o o) any { return o.Load.Schedule }, []runner.RateStep{
			{From: 0, To: 1000, For: time.Minute}, {For: time.Second}, {From: 10, To: 0, For: 5 * time.Second}}},
		{"--rps 5 --arrival poisson", func(o o) any { return o.Load.Poisson }, true},
		{"--timeout 0 --connect-timeout 250ms --wait 3", func(o o) any {
			return []time.Duration{o.Load.Timeout, o.Load.ConnectTimeout, o.Load.Wait}
		}, []time.Duration{0, 250 * time.Millisecond, 3 * time.Second}},
		{"--cpu 0,2-3", func(o o) any { return o.Load.CPUs }, []int{0, 2, 3}},
		{"--spin-us 50", func(o o) any { return o.Load.Spin }, 50 * time.Microsecond},
		{"--source 127.0.0.2,::1", func(o o) any { return o.Target.Sources }, []string{"127.0.0.2", "::1"}},
		{"--on-error count", func(o o) any { return o.Load.OnError }, runner.CountErrors},
		{"--mode set --on-error stop", func(o o) any { return o.Load.OnError }, runner.StopOnError},
		{"--json - --hdr -", func(o o) any { return o.Output.JSON + o.Output.HDR }, "--"},
		{"--assert p99<2ms --assert errors==0", func(o o) any { return o.Output.Assert }, []string{"p99<2ms", "errors==0"}},
		{"", func(o o) any { return o.Output.ServerInfo }, true},
		{"-q", func(o o) any { return o.Output.ServerInfo }, false},
		{"-q --server-info", func(o o) any { return o.Output.ServerInfo }, true},
		{"--server-info=false", func(o o) any { return o.Output.ServerInfo }, false},
		// Secrets.
		{"-u redis://bob:p@h -a secret -q", func(o o) any { return strings.Join(o.CommandLine, " ") }, "respbench -u *** -a *** -q"},
		{"-qasecret -u=redis://x ping -a seen", func(o o) any { return strings.Join(o.CommandLine, " ") }, "respbench -qa*** -u=*** ping -a seen"},
	} {
		p := parse(t, strings.Fields(c.argv)...)
		if !p.ran {
			t.Errorf("%q was refused: %s", c.argv, p.stderr)
			continue
		}
		if got := c.got(&p.opts); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: got %v, want %v", c.argv, got, c.want)
		}
	}
}

func TestNonsenseIsRefusedInOneLine(t *testing.T) {
	for _, c := range []struct{ argv, say string }{
		{"-n abc", `invalid value "abc" for -n: must be a whole number, at least 1`},
		{"-n 0", `"0" for -n`}, {"-n -5", `"-5" for -n`}, {"-n +5", `"+5" for -n`},
		{"-n 9223372036854775808", `for -n: must be a whole number from 1 to 9223372036854775807`},
		{"--requests -1", `for --requests`}, {"--requests 0", `for --requests`},
		{"--requests 1e6", `"1e6" for --requests`}, {"--requests 0x10", `"0x10" for --requests`}, {"--requests=", `for --requests`},
		{"-c -1", `for -c`}, {"-c 4294967295", `must be a whole number from 0 to 1048576`}, {"-c 5x", `for -c`},
		{"-P -1", `for -P`}, {"-d abc", `for -d`}, {"-r -1", `for -r`}, {"-r 1.5", `for -r`},
		{"--value-size -1", `for --value-size`}, {"--value-size 1073741825", `for --value-size`}, {"--value-size 5-", `for --value-size`},
		{"--threads -1", `for --threads`}, {"-k no", `"no" for -k`}, {"--dbnum -1", `for --dbnum`}, {"--dbnum zz", `for --dbnum`},
		{"-p 99999", `invalid port "99999" for -p/--port: must be a whole number from 1 to 65535`},
		{"-p 0", `invalid port`}, {"-p -1", `invalid port`}, {"-p abc", `invalid port`}, {"--port 70000", `invalid port "70000"`},
		{"--seed -1", `for --seed`}, {"--seed 18446744073709551616", `for --seed`}, {"--seed +1", `for --seed`},
		{"--precision x", `for --precision`},
		{"--mode fast", `must be one of set, get, mixed`}, {"--set-ratio 101", `from 0 to 100`}, {"--keyspace 0", `for --keyspace`},
		{"--mode set -r 0", `invalid -r/--keyspace 0: must be 1 to 1000000000000`},
		{"--keyspace 1000000000001", `for --keyspace`},
		{"-q –n 5", `"–n" begins with a dash that is not "-": was it copied from a text? (see respbench --help)`}, {"—port 5", `"—port" begins with a dash`}, {"−c 5", `begins with a dash`},
		{"--set-cmd=", `invalid command "" for --set-cmd: must be one word, such as SET`}, {"--set-cmd __key__", `for --set-cmd`},
		{"--engine iocp", `must be one of epoll, gnet`}, {"--rfr maybe", `must be one of no, yes, all`},
		{"--cpu 3-1", `for --cpu`}, {"--cpu x", `for --cpu`}, {"--cpu 0,", `for --cpu`}, {"--cpu 5000", `for --cpu`},
		{"--rps -5", `for --rps`}, {"--rps 1..2", `for --rps`}, {"--rps 10:0", `for --rps`},
		{"--duration 2562047h", `for --duration: must be at most 876000h (see`}, {"--timeout 99999999999999999999", `for --timeout: must be at most 876000h`},
		{"--rps 1:2562047h", `for --rps: must be at most 876000h`}, {"--rps 1:800000h,1:80000h", `for --rps: must be at most 876000h`},
		{"--rps 0:5s", `for --rps`}, {"--rps 0..0:5s,0:1s", `for --rps`}, {"--rps 0..5", `for --rps`},
		{"--rps 5,6", `for --rps`}, {"--rps 1k:5s,", `for --rps`}, {"--rps 1e3", `for --rps`},
		{"--duration -1", `for --duration`}, {"--duration 0", `for --duration`}, {"--duration x", `for --duration`}, {"--duration +1s", `for --duration`},
		{"-n 5 --duration 5", `-n and --duration are mutually exclusive`},
		{"--interval 1ms", `for --interval`}, {"--metrics 9100", `must be host:port`}, {"--source localhost", `"localhost" is no IP address`},
		{"--compressible 2", `from 0 to 1`}, {"--compressible nan", `from 0 to 1`}, {"--key-dist normal", `for --key-dist`}, {"--key-dist zipf:x", `exponent "x"`}, {"--key-dist=", `for --key-dist`},
		{"--value-size 9-5", `bad size "9-5"`}, {"--value-size 1:0", `bad weight "0"`},
		{"--assert p99<2mx", `invalid condition "p99<2mx" for --assert: column 6: `}, {"--assert=", `for --assert: column 1: `}, {"--log-level loud", `for --log-level`},
		{"--foo", `Invalid option "--foo" or option argument missing: there is no option "--foo"`},
		{"-z", `Invalid option "-z" or`}, {"-qz", `Invalid option "-z" or`}, {"-5", `Invalid option "-5" or`},
		{"-é", `there is no option "-é"`}, {"-qé", `there is no option "-é"`}, {"---", `there is no option "---"`}, {"--=x", `there is no option "--=x"`},
		{"--verify", `did you mean --verify-get?`},
		{"-host x", `Invalid option "-host" or option argument missing: there is no option "-host"; did you mean --host?`}, {"-mode set", `did you mean --mode?`}, {"-csv", `did you mean --csv?`},
		{"-q -dbnum 3", `did you mean --dbnum?`}, {"-port=5", `did you mean --port?`},
		{"--json --csv -q", `invalid file "--csv" for --json: must not begin with a dash; is the value missing?`}, {"-s -q", `for -s`},
		{"--user -a x", `for --user`}, {"--set-cmd --get-cmd RGET", `invalid command "--get-cmd" for --set-cmd`}, {"--dataset -x ping", `for --dataset`},
		{"-n " + strings.Repeat("9", 500), `99..." for -n: must be a whole number from 1 to 9223372036854775807 (see respbench --help)`},
		{"-t " + strings.Repeat("a,", 500), `a,..." for -t: there are ping_inline, `},
		{"--n 5", `there is no option "--n"; did you mean -n?`},
		{"-p", `Invalid option "-p" or option argument missing: -p needs a value`}, {"--host", `: --host needs a value`}, {"-qn", `: -n needs a value`},
		{"-h -p 33", `invalid host "-p"`}, {"-h 127.0.0.1:33", `with the port in -p: -h 127.0.0.1 -p 33`}, {"-h [::1]:33", `-h ::1 -p 33`},
		{"-h redis://x", `a URI goes to -u`}, {"--mptcp -s /x", `--mptcp is for TCP`}, {"--source 127.0.0.1 -s /x", `--source is for TCP`},
		{"-t nosuch", `invalid tests "nosuch" for -t: there are `}, {"-t ,", `for -t`}, {"-t=", `for -t`},
		{"--mode set -t set", `-t does not go with --mode`}, {"-t get --requests 5", `-t does not go with --requests`},
		{"--requests 5 ping", `the command "ping" does not go with --requests`}, {"--mode set -l", `-l does not go with --mode`},
		{"--user bob", `--user needs -a`},
		{"--tls --cacert /no/such/file", `--cacert: open /no/such/file`}, {"--tls --cacertdir /no/such/dir", `--cacertdir`},
		{"--tls --cert c.pem", `--cert needs --key`}, {"--tls --key k.pem", `--key needs --cert`}, {"--tls --cert /no/c --key /no/k", `/no/c`},
		{"--rdma", `--rdma is not supported`}, {"--fuzz", `--fuzz is not supported`}, {"--tls-ciphersuites x", `--tls-ciphersuites is not supported`},
		{"--embedded -p 5", `--embedded does not go with -p/--port`}, {"--embedded -u redis://x", `--embedded does not go with -u`},
		{"--key-prefix=x --engine=", `for --engine`}, {"--csv=maybe", `must be true or false`},
	} {
		p := parse(t, strings.Fields(c.argv)...)
		if p.ran || p.code != 1 || p.stdout != "" {
			t.Errorf("%q: ran %v, exit code %d, stdout %q", c.argv, p.ran, p.code, p.stdout)
		}
		if !strings.Contains(p.stderr, c.say) || strings.Count(p.stderr, "\n") != 1 {
			t.Errorf("%q: %q must be one line with %q", c.argv, p.stderr, c.say)
		}
	}
}

// A blank or empty word cannot be written in the tables above, which split at spaces.
func TestBlankWords(t *testing.T) {
	for _, argv := range [][]string{{"-n", "1", ""}, {"-n", "1", "   "}, {"--requests", " "}, {"-n", " 5"}, {"--set-cmd", "a b"}, {"--mix", " "},
		{"-h", "a b"}, {"-h", "a\nb"}, {"-s", "a\x1b[31m"}, {"--json", "a\nb"}} {
		if p := parse(t, argv...); p.ran || p.code != 1 || strings.Count(p.stderr, "\n") != 1 {
			t.Errorf("%q: ran %v, exit code %d, stderr %q", argv, p.ran, p.code, p.stderr)
		}
	}
	p := parse(t, "set", "a b", "")
	if want := []string{"set", "a b", ""}; !reflect.DeepEqual(p.opts.Classic.Command, want) {
		t.Errorf("command %q, want %q", p.opts.Classic.Command, want)
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct{ argv, say string }{
		{"-e", "WARNING: -e option has no effect. We now immediately exit on error to avoid false results.\n"},
		{"--threads 501", "WARNING: Too many threads, limiting threads to 500.\n"},
		{"-P 65537 --rps 5", "WARNING: Too deep a pipeline for --rps or --cluster, limiting -P to 65536.\n"},
		{"-P 2147483647 --cluster", "WARNING: Too deep a pipeline for --rps or --cluster, limiting -P to 65536.\n"}, {"-P 65537", ""}, {"-P 65536 --rps 5", ""},
		{"-t get ping", "WARNING: Option -t is ignored.\n"},
		{"-k 0", "WARNING: Keepalive disabled. You probably need 'echo 1 > /proc/sys/net/ipv4/tcp_tw_reuse' for Linux and " +
			"'sudo sysctl -w net.inet.tcp.msl=1000' for Mac OS X in order to use a lot of clients/requests\n"},
		{"--cacert x", "WARNING: Option --cacert is ignored without --tls.\n"},
		{"--insecure", "WARNING: Option --insecure is ignored without --tls.\n"},
		{"--rfr all", "WARNING: Option --rfr is ignored without --cluster.\n"},
		{"--sequential", "WARNING: Option --sequential is ignored without -r.\n"},
		{"--maxdocs 3 ping", "WARNING: Option --maxdocs is ignored without --dataset.\n"},
		{"--arrival poisson", "WARNING: Option --arrival is ignored without --rps.\n"},
		{"--engine gnet --cpu 0", "WARNING: Option --cpu is ignored without --engine epoll.\n"},
		{"--engine gnet --spin-us 5", "WARNING: Option --spin-us is ignored without --engine epoll.\n"},
		{"-x", "WARNING: Option -x is ignored without a command.\n"},
		{"--dataset d.csv", "WARNING: Option --dataset is ignored without a command.\n"},
		{"-r 1000000000001", "WARNING: Too many keys for the 12 digits of __rand_int__, limiting -r to 1000000000000.\n"},
		{"-d 2000000000", "WARNING: Data size 2000000000 is out of range, using 1073741824.\n"},
		{"--rps 100:1s --duration 3", "WARNING: The schedule of --rps ends after 1s, before --duration 3s.\n"},
		{"--rps 100..300:2s -n 1000", "WARNING: The schedule of --rps ends after 2s and 400 requests, before -n 1000.\n"},
		{"-q --server-info", "WARNING: Option --server-info is ignored without the full report or --json.\n"},
		{"--mode set --set-ratio 10", "WARNING: Option --set-ratio is ignored with --mode set.\n"},
		{"--mode get --set-ratio 10", "WARNING: Option --set-ratio is ignored with --mode get.\n"},
		{"--mix 1:PING --set-ratio 10", "WARNING: Option --set-ratio is ignored with --mix, which has weights of its own.\n"},
		{"--mix 1:PING --set-cmd RSET --get-cmd RGET", "WARNING: Option --set-cmd is ignored with --mix.\nWARNING: Option --get-cmd is ignored with --mix.\n"},
		{"--mode set --verify-get", "WARNING: Option --verify-get is ignored with --mode set, which reads nothing.\n"},
		{"set k:__rand_int__ v", "WARNING: \"__rand_int__\" is sent as it stands without -r.\n"},
		{"set k __field:a__", "WARNING: \"__field:a__\" is sent as it stands without --dataset.\n"},
		{"-r 5 set __rand_1st____rand_int__ v", ""}, {"--dataset d -r 5 set __rand_1st__ __field:a__", ""}, {"set __rand_0th__ __rand__", ""},
		{"--set-ratio 10", ""}, {"--mode set --set-cmd RSET --get-cmd RGET", ""}, {"--mix 1:PING --verify-get", ""},
		{"-q --server-info --json x", ""}, {"--server-info", ""}, {"--rps 100:1s -n 100", ""}, {"--rps 100:3s --duration 1", ""},
		{"-q", ""}, {"--rps 100 --arrival poisson", ""}, {"--rps 100:1s --arrival poisson", ""},
	} {
		if p := parse(t, strings.Fields(c.argv)...); !p.ran || p.stderr != c.say {
			t.Errorf("%q: ran %v, stderr %q, want %q", c.argv, p.ran, p.stderr, c.say)
		}
	}
	p := parse(t, "-t", "set,nosuch")
	if !strings.HasPrefix(p.stderr, `WARNING: Unknown test "nosuch" is ignored. There are: ping`) {
		t.Errorf("stderr %q does not name the unknown test and the known ones", p.stderr)
	}
	p = parse(t, "-t", "set,x,y")
	if !strings.HasPrefix(p.stderr, `WARNING: Unknown tests "x", "y" are ignored. There are: ping`) || strings.Count(p.stderr, "\n") != 1 {
		t.Errorf("two unknown tests: stderr %q", p.stderr)
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, argv := range []string{"--help", "-h", "-q -h", "-qh", "--help --nosuch", "-n 5 --help"} {
		p := parse(t, strings.Fields(argv)...)
		if p.code != 0 || p.stderr != "" || !strings.HasPrefix(p.stdout, "Usage: respbench [OPTIONS] [COMMAND ARGS...]\n") {
			t.Errorf("%q: exit code %d, stderr %q, stdout %.60q", argv, p.code, p.stderr, p.stdout)
		}
	}
	for _, argv := range []string{"--version", "-v", "-q --version --nosuch"} {
		p := parse(t, strings.Fields(argv)...)
		if p.code != 0 || p.stdout != "respbench "+runner.Version+"\n" || p.stderr != "" {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q", argv, p.code, p.stdout, p.stderr)
		}
	}
}

// "help NAME" is "NAME --help".
func TestHelpOfSubcommands(t *testing.T) {
	for _, name := range []string{"sweep", "ceiling", "suite", "compare", "report", "serve"} {
		a, b := parse(t, "help", name), parse(t, name, "--help")
		if a.code != 0 || b.code != 0 || a.stdout != b.stdout || !strings.Contains(a.stdout, "respbench "+name+" ") || len(a.stdout) < 500 {
			t.Errorf("help %s: exit code %d, %q\n%s --help: exit code %d, %q", name, a.code, a.stdout, name, b.code, b.stdout)
		}
	}
}

// Under the peers' names there is no subcommand and no line of our own.
func TestDropInNames(t *testing.T) {
	for _, name := range []string{"/usr/bin/redis-benchmark", "valkey-benchmark"} {
		base := name[strings.LastIndexByte(name, '/')+1:]
		if p := parseAs(t, name, "", "--version"); p.stdout != base+" "+runner.Version+"\n" {
			t.Errorf("%s --version: %q", name, p.stdout)
		}
		if p := parseAs(t, name, "", "--help"); !strings.HasPrefix(p.stdout, "Usage: "+base+" ") || strings.Contains(p.stdout, "respbench") {
			t.Errorf("%s --help: %.200q", name, p.stdout)
		}
		if p := parseAs(t, name, "", "set", "__rand_int__", "v"); p.stderr != "" {
			t.Errorf("%s has a line that it would not print: %q", name, p.stderr)
		}
		p := parseAs(t, name, "", "serve", "--port", "1")
		if want := []string{"serve", "--port", "1"}; !reflect.DeepEqual(p.opts.Classic.Command, want) || p.opts.Output.Additions {
			t.Errorf("%s serve: command %q, additions %v", name, p.opts.Classic.Command, p.opts.Output.Additions)
		}
	}
	if p := parse(t, "ping"); !p.opts.Output.Additions {
		t.Error("under our own name additions are off")
	}
}

func TestLastArgumentFromStdin(t *testing.T) {
	p := parseAs(t, "respbench", "a\x00b\n", "-x", "set", "k")
	if got := string(p.opts.Classic.Stdin); got != "a\x00b\n" || !p.opts.Classic.HasStdin {
		t.Errorf("stdin %q, given %v", got, p.opts.Classic.HasStdin)
	}
	if p := parseAs(t, "respbench", "", "-x", "set", "k"); len(p.opts.Classic.Stdin) != 0 || !p.opts.Classic.HasStdin {
		t.Error("an empty stdin is an empty argument")
	}
	if p := parseAs(t, "respbench", "unread", "-x"); p.opts.Classic.HasStdin {
		t.Error("-x without a command took an argument")
	}
}

func TestPasswordFromEnvironment(t *testing.T) {
	t.Setenv(passwordVariable, "from-env")
	for _, c := range []struct{ argv, user, password string }{
		{"", "", "from-env"},
		{"-a typed", "", "typed"},
		{"--user bob", "bob", "from-env"},
		{"-u redis://:uri@h", "", "uri"},
		{"-u redis://:uri@h -a typed", "", "typed"},
		{"-a typed -u redis://bob:uri@h", "bob", "uri"},
		{"-a typed -u redis://h", "", "typed"},
	} {
		p := parseAs(t, "respbench", "", strings.Fields(c.argv)...)
		if got := p.opts.Target; got.User != c.user || got.Password != c.password {
			t.Errorf("%q: user %q, password %q", c.argv, got.User, got.Password)
		}
	}
}

// Every row of the table has what the help needs, and no name twice (pflag would panic).
func TestTableIsComplete(t *testing.T) {
	for _, r := range newSettings(program{name: ownName}).rows() {
		if r.set == nil || r.group == "" || (r.text == "" && !r.hidden) || len(r.short) > 1 || len(r.long) == 1 {
			t.Errorf("row %+v is not complete", r.typed())
		}
		for line := range strings.SplitSeq(r.text, "\n") {
			if len(line)+helpColumn > 100 {
				t.Errorf("help of %s is wider than 100 columns: %q", r.typed(), line)
			}
		}
	}
}
