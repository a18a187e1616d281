package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strconv"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"respbench/kvstore"
	"respbench/runner"
)

// serve.go is the subcommand that runs the embedded server. A parent process that starts it with --until-stdin-closes reads
// one line from its stdout, "ready HOST:PORT", when clients may connect, and ends it by closing its stdin: so the server
// cannot outlive the parent, however that ends.

func newServeCommand() *cobra.Command {
	var o kvstore.Options
	var untilStdinCloses, quiet bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the embedded key-value server",
		Long: "Runs the embedded server, which speaks the Redis protocol: plain keys, the ordered engine (RSET RGET RDEL RMOD REXIST RRANGE),\n" +
			"the hash table (HSET key value, HGET key, ...), and the types that the default tests need.",
		Example: "  respbench serve --port 8888 --persistence incremental --fsync everysec --dir /var/lib/kvstore",
		Args:    noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage = true
			o.Version = runner.Version
			o.Log = serveLog(cmd.ErrOrStderr(), quiet || untilStdinCloses)
			if err := checkGiven(cmd.Flags(), &o); err != nil {
				return err
			}
			var stdin io.Reader
			if untilStdinCloses {
				stdin = cmd.InOrStdin()
			}
			return serve(cmd.Context(), o, stdin, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.Host, "host", "127.0.0.1", "address to listen on")
	o.Port, o.MaxClients = 8888, 10000
	intVar(f, &o.Port, "port", "", "port to listen on, 0 for a free one")
	f.StringVar(&o.Persistence, "persistence", kvstore.PersistNone, "none, or incremental: an append-only operation log")
	f.StringVar(&o.Fsync, "fsync", kvstore.FsyncEverySec, "when the log is synced: no, everysec or always")
	f.StringVar(&o.Dir, "dir", ".", "folder of the log")
	f.BoolVar(&o.Repair, "repair", false, "cut a damaged log at the damage, keeping a copy, and start")
	f.BoolVar(&o.Strict, "strict", false, "refuse a log whose last record is cut short instead of cutting it off")
	f.StringVar(&o.Allocator, "allocator", kvstore.MyPool, "mypool: slabs that the garbage collector does not scan; malloc: Go slices")
	f.StringVar(&o.RequirePass, "requirepass", "", "password that clients must give")
	intVar(f, &o.MaxClients, "maxclients", "", "most clients at a time")
	f.BoolVar(&o.Null, "null", false, "answer every command with +OK and store nothing")
	f.BoolVar(&untilStdinCloses, "until-stdin-closes", false, "stop when stdin is closed; for a parent process; implies --quiet")
	f.BoolVar(&quiet, "quiet", false, "log warnings and errors only")
	return cmd
}

// checkGiven refuses values that Options takes for its defaults, so that a script's empty variable does not choose the
// folder or the strategy, and says when an option has nothing to do.
func checkGiven(f *pflag.FlagSet, o *kvstore.Options) (err error) {
	f.Visit(func(given *pflag.Flag) {
		value := given.Value.String()
		switch name := given.Name; {
		case value == "" && name != "requirepass":
			err = fmt.Errorf("--%s \"\": must not be empty", name)
		case name == "maxclients" && o.MaxClients == 0:
			err = fmt.Errorf("--maxclients 0: must be at least 1")
		case (name == "fsync" || name == "repair" || name == "strict") && o.Persistence == kvstore.PersistNone:
			o.Log.Warn().Msgf("--%s does nothing with --persistence none", name)
		}
	})
	return err
}

func serveLog(w io.Writer, quiet bool) zerolog.Logger {
	level := zerolog.InfoLevel
	if quiet {
		level = zerolog.WarnLevel
	}
	console := zerolog.ConsoleWriter{Out: w, NoColor: true, TimeFormat: time.DateTime}
	return zerolog.New(console).Level(level).With().Timestamp().Logger()
}

// serve runs a server until ctx ends (a signal ends it), a client sends SHUTDOWN, or parent, if there is one, reaches its end.
func serve(ctx context.Context, o kvstore.Options, parent io.Reader, stdout io.Writer) error {
	if ctx == nil {
		ctx = context.Background()
	}
	// Pinned to one core Go would run with one processor, and lose it at each wait for the network or the disk.
	runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0)))
	ended, stop := make(chan struct{}), make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-ctx.Done():
		case <-atEnd(parent):
		case <-ended:
			return
		}
		close(stop)
	}()
	o.Stop = stop
	server, err := kvstore.New(o)
	if errors.Is(err, kvstore.ErrStopped) {
		o.Log.Warn().Msg(err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	return server.Run(func(port int) {
		fmt.Fprintf(stdout, "ready %s\n", net.JoinHostPort(o.Host, strconv.Itoa(port)))
		go func() {
			select {
			case <-stop:
				server.Stop()
			case <-ended:
			}
		}()
	})
}

// atEnd is closed when r has nothing more; never for a nil r.
func atEnd(r io.Reader) <-chan struct{} {
	if r == nil {
		return nil
	}
	end := make(chan struct{})
	go func() {
		io.Copy(io.Discard, r)
		close(end)
	}()
	return end
}
