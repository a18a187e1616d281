package kvstore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// session opens the log of dir, executes commands and ends in order. It returns the replies.
func session(t *testing.T, o Options, commands ...string) (replies []string, err error) {
	t.Helper()
	o.Persistence = PersistIncremental
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	s.log.start()
	for _, line := range commands {
		var words [][]byte
		for _, w := range strings.Split(line, " ") {
			words = append(words, []byte(strings.ReplaceAll(w, "_", "\r\n")))
		}
		if len(words) > 1 {
			s.key = s.store.plain.hash(words[1])
		}
		s.out = s.out[:0]
		s.dispatch(&s.nobody, lookup(words[0]), words)
		replies = append(replies, string(s.out))
	}
	return replies, s.endLog()
}

// twoRecords writes SET a 1 and SET b 2 and returns the file and the offset of the second record.
func twoRecords(t *testing.T) (o Options, data []byte, second int) {
	t.Helper()
	o = Options{Dir: t.TempDir()}
	if _, err := session(t, o, "SET a 1", "SET b 2"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(o.Dir, logName))
	if err != nil {
		t.Fatal(err)
	}
	second = bytes.Index(data, appendRecord(nil, opSet, []byte("b"), []byte("2")))
	if second < 0 {
		t.Fatalf("unexpected file %q", data)
	}
	return o, data, second
}

func writeLog(t *testing.T, o Options, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(o.Dir, logName), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// C146, C150: the last record is cut short by a crash, anywhere. What is in front of it stays; what is written afterwards is not
// lost behind the debris; the next start has nothing to say.
func TestTornEnd(t *testing.T) {
	o, data, second := twoRecords(t)
	end := second + len(appendRecord(nil, opSet, []byte("b"), []byte("2")))
	for cut := second; cut < end; cut++ {
		writeLog(t, o, data[:cut])
		got, err := session(t, o, "GET a", "GET b", "SET c 3")
		if want := "[$1\r\n1\r\n $-1\r\n +OK\r\n]"; err != nil || fmt.Sprint(got) != want {
			t.Fatalf("cut at %d: %q, %v", cut, got, err)
		}
		o.Strict = true // refuses a torn end, so there is none
		got, err = session(t, o, "GET a", "GET b", "GET c")
		o.Strict = false
		if want := "[$1\r\n1\r\n $-1\r\n $1\r\n3\r\n]"; err != nil || fmt.Sprint(got) != want {
			t.Fatalf("after the cut at %d: %q, %v", cut, got, err)
		}
	}
}

// C147: the operator may want a refusal instead; the file stays as it is then.
func TestStrictRefusesTornEnd(t *testing.T) {
	o, data, second := twoRecords(t)
	writeLog(t, o, data[:second+5])
	o.Strict = true
	_, err := session(t, o)
	if err == nil || !strings.Contains(err.Error(), logName) || !strings.Contains(err.Error(), fmt.Sprint("offset ", second, " ")) {
		t.Errorf("error %v, want one with the file and offset %d", err, second)
	}
	if now, _ := os.ReadFile(filepath.Join(o.Dir, logName)); !bytes.Equal(now, data[:second+5]) {
		t.Error("the refused file was changed")
	}
}

// C149, C152: damage in front of good records is refused with its offset, and --repair cuts there and keeps the rest.
func TestDamageInTheMiddle(t *testing.T) {
	o, data, second := twoRecords(t)
	a := appendRecord(nil, opSet, []byte("a"), []byte("1"))
	first := bytes.Index(data, a)
	firstEnd := first + len(a)
	if firstEnd > second {
		t.Fatalf("unexpected file %q", data)
	}
	longer := bytes.Clone(data)
	longer[first] += 8
	cases := map[string]struct {
		data   []byte
		offset int
	}{
		"XX between":      {append(append(bytes.Clone(data[:firstEnd]), "XX"...), data[firstEnd:]...), firstEnd},
		"length too long": {longer, first},
		"a byte missing":  {append(bytes.Clone(data[:first+3]), data[first+4:]...), first},
	}
	for bit := range 8 * (firstEnd - first) {
		flipped := bytes.Clone(data)
		flipped[first+bit/8] ^= 1 << (bit % 8)
		cases[fmt.Sprint("bit ", bit)] = struct {
			data   []byte
			offset int
		}{flipped, first}
	}
	for name, c := range cases {
		writeLog(t, o, c.data)
		_, err := session(t, o)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("damaged at offset %d ", c.offset)) || !strings.Contains(err.Error(), "--repair") {
			t.Fatalf("%s: error %v, want damage at %d", name, err, c.offset)
		}
		repair := o
		repair.Repair = true
		got, err := session(t, repair, "DBSIZE", "SET c 3")
		if err != nil {
			t.Fatalf("%s: repair: %v", name, err)
		}
		if want := map[bool]string{true: ":0\r\n", false: ":1\r\n"}[c.offset == first]; got[0] != want {
			t.Fatalf("%s: after repair DBSIZE is %q, want %q", name, got[0], want)
		}
		rest, err := os.ReadFile(filepath.Join(o.Dir, fmt.Sprintf("%s.cut-%d", logName, c.offset)))
		if err != nil || !bytes.Equal(rest, c.data[c.offset:]) {
			t.Fatalf("%s: the copy of what was cut: %d bytes, %v", name, len(rest), err)
		}
		if got, err := session(t, o, "GET c"); err != nil || got[0] != "$1\r\n3\r\n" {
			t.Fatalf("%s: after the repair: %q, %v", name, got, err)
		}
		os.Remove(filepath.Join(o.Dir, fmt.Sprintf("%s.cut-%d", logName, c.offset)))
	}
}

// What a repair has cut is not overwritten by the next one.
func TestRepairKeepsEarlierCopies(t *testing.T) {
	o, data, second := twoRecords(t)
	o.Repair = true
	for i, name := range []string{"", "-2", "-3"} {
		rest := fmt.Sprint("damage ", i)
		writeLog(t, o, append(bytes.Clone(data[:second]), rest...))
		if _, err := session(t, o); err != nil {
			t.Fatal(err)
		}
		copied, err := os.ReadFile(filepath.Join(o.Dir, fmt.Sprintf("%s.cut-%d%s", logName, second, name)))
		if err != nil || string(copied) != rest {
			t.Errorf("copy %d: %q, %v", i, copied, err)
		}
	}
}

// C152: a text tool took the carriage returns.
func TestLogThroughTextTool(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	if _, err := session(t, o, "SET a x_", "SET b 2", "SET c 3"); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(filepath.Join(o.Dir, logName))
	writeLog(t, o, bytes.ReplaceAll(data, []byte("\r"), nil))
	if _, err := session(t, o); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("damaged at offset %d ", bytes.Index(data, appendRecord(nil, opSet, []byte("a"), []byte("x\r\n"))))) {
		t.Errorf("error %v", err)
	}
}

// C153: odd things in place of the log.
func TestOddFiles(t *testing.T) {
	empty := Options{Dir: t.TempDir()}
	writeLog(t, empty, nil)
	if got, err := session(t, empty, "DBSIZE"); err != nil || got[0] != ":0\r\n" {
		t.Errorf("empty file: %q, %v", got, err)
	}
	if got, err := session(t, Options{Dir: t.TempDir()}, "DBSIZE"); err != nil || got[0] != ":0\r\n" {
		t.Errorf("no file: %q, %v", got, err)
	}
	for cut := range len(logMagic) {
		writeLog(t, empty, []byte(logMagic[:cut]))
		if got, err := session(t, empty, "SET a 1"); err != nil || got[0] != "+OK\r\n" {
			t.Errorf("head cut at %d: %q, %v", cut, got, err)
		}
		if got, err := session(t, empty, "GET a"); err != nil || got[0] != "$1\r\n1\r\n" {
			t.Errorf("after a head cut at %d: %q, %v", cut, got, err)
		}
	}
	writeLog(t, empty, []byte("REDIS0009 something else"))
	if _, err := session(t, empty); err == nil || !strings.Contains(err.Error(), "not an operation log") {
		t.Errorf("another file: %v", err)
	}
	folder := Options{Dir: t.TempDir()}
	os.Mkdir(filepath.Join(folder.Dir, logName), 0o755)
	if _, err := session(t, folder); err == nil {
		t.Error("a folder in place of the log was accepted")
	}
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o644)
	if _, err := session(t, Options{Dir: file}); err == nil || !strings.Contains(err.Error(), "not a folder") {
		t.Errorf("--dir is a file: %v", err)
	}
	if _, err := session(t, Options{Dir: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("--dir is absent: %v", err)
	}
}

func TestReadOnlyLog(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write to read-only files")
	}
	o, data, _ := twoRecords(t)
	writeLog(t, o, data)
	os.Chmod(filepath.Join(o.Dir, logName), 0o400)
	if _, err := session(t, o); !errors.Is(err, os.ErrPermission) {
		t.Errorf("error %v", err)
	}
}

// C156: restarts change nothing.
func TestRestartIsStable(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	var commands []string
	for i := range 1000 {
		commands = append(commands, fmt.Sprintf("SET k%d v%d", i%500, i), fmt.Sprintf("HSET t%d v%d", i%500, i), fmt.Sprintf("RSET r%d v%d", i, i),
			fmt.Sprintf("HSET h f%d v%d", i%100, i), fmt.Sprintf("RPUSH l v%d", i), fmt.Sprintf("ZADD z %d m%d", i, i%100), "XADD x * f v", fmt.Sprintf("SADD s m%d", i%10))
	}
	commands = append(commands, "SET empty ", "RSET _ _", "LPOP l", "SPOP s", "ZPOPMIN z", "HDEL h f1", "RDEL r1", "HDEL t1")
	if _, err := session(t, o, commands...); err != nil {
		t.Fatal(err)
	}
	var print uint64
	var size int64
	for life := range 3 {
		s, err := New(Options{Persistence: PersistIncremental, Dir: o.Dir})
		if err != nil {
			t.Fatal(err)
		}
		got := fingerprint(s)
		s.log.start()
		if err := s.endLog(); err != nil {
			t.Fatal(err)
		}
		info, _ := os.Stat(filepath.Join(o.Dir, logName))
		if life > 0 && (got != print || info.Size() != size) {
			t.Errorf("life %d: %d bytes after %d, contents equal: %v", life, info.Size(), size, got == print)
		}
		print, size = got, info.Size()
	}
}

// A replay can be ended before it is over, and changes nothing then.
func TestReplayIsStopped(t *testing.T) {
	o, data, _ := twoRecords(t)
	big := appendRecord(nil, opSet, []byte("big"), make([]byte, progressEvery))
	data = append(append(data, big...), big...)
	writeLog(t, o, data)
	stop := make(chan struct{})
	close(stop)
	o.Stop = stop
	if _, err := session(t, o); !errors.Is(err, ErrStopped) {
		t.Errorf("error %v, want ErrStopped", err)
	}
	if now, _ := os.ReadFile(filepath.Join(o.Dir, logName)); !bytes.Equal(now, data) {
		t.Error("the log was changed")
	}
	o.Stop = nil
	if got, err := session(t, o, "DBSIZE"); err != nil || got[0] != ":3\r\n" {
		t.Errorf("afterwards: %q, %v", got, err)
	}
}

// With everysec, what has been acknowledged before the disk is full is on the disk as far as there was room, although it was to be
// written at once.
func TestFullDiskTakesWhatFits(t *testing.T) {
	fs := newCrashFS(1)
	s, err := openRig(t, fs, FsyncEverySec)
	if err != nil {
		t.Fatal(err)
	}
	record := appendRecord(nil, opSet, []byte("k00"), make([]byte, 100))
	fs.room = int64(8*len(record) - 1) // a mark has to be there, too
	for i := range 20 {
		s.log.add(opSet, fmt.Appendf(nil, "k%02d", i), make([]byte, 100))
	}
	s.log.hand()
	s.log.turn()
	if s.log.failure() == nil {
		t.Fatal("the disk is not full")
	}
	fs.crash()
	after, err := openRig(t, fs, FsyncEverySec)
	if err != nil {
		t.Fatal(err)
	}
	if n := after.store.plain.count; n != 7 {
		t.Errorf("%d keys are there, there was room for 7", n)
	}
}

// C158: a change of many keys is whole or not there.
func TestHalfABatchIsNone(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	if _, err := session(t, o, "SET a 1", "MSET b 2 c 3 d 4"); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(filepath.Join(o.Dir, logName))
	record := appendRecord(nil, opMSet, []byte("b"), []byte("2"), []byte("c"), []byte("3"), []byte("d"), []byte("4"))
	batch := bytes.Index(data, record)
	for cut := batch + 1; cut < batch+len(record); cut++ {
		writeLog(t, o, data[:cut])
		if got, err := session(t, o, "DBSIZE"); err != nil || got[0] != ":1\r\n" {
			t.Fatalf("cut at %d: %q, %v", cut, got, err)
		}
	}
}

func TestOneProcessAFolder(t *testing.T) {
	o := Options{Dir: t.TempDir(), Persistence: PersistIncremental}
	first := startServer(t, o)
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("error %v", err)
	}
	if err := os.Remove(filepath.Join(o.Dir, lockName)); err != nil {
		t.Fatal(err)
	}
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("without the lock file: error %v", err)
	}
	first.stop(t)
	if _, err := session(t, o); err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
}

// FuzzReplay: no file makes the replay fail otherwise than with an error, and what it accepts it accepts again, with the same
// contents.
func FuzzReplay(f *testing.F) {
	good := appendRecord([]byte(logMagic), opSet, []byte("a"), []byte("1"))
	good = appendRecord(good, opHSetFields, []byte("h"), []byte("f"), []byte("v"))
	good = appendMark(good, int64(len(good)))
	good = appendRecord(good, opXAdd, []byte("x"), []byte("1-1"), []byte("f"), []byte("v"))
	f.Add(good)
	f.Add(good[:len(good)-3])
	f.Add(append(bytes.Clone(good), make([]byte, 100)...))
	f.Add([]byte(logMagic + "XX"))
	f.Fuzz(func(t *testing.T, data []byte) {
		// A record is tried with a right checksum, too, or the fuzzer would never get behind it.
		sealed := bytes.Clone(data)
		if n := len(logMagic) + recordRoom; len(sealed) > n {
			copy(sealed, logMagic)
			sealRecord(sealed[len(logMagic):])
		}
		for _, data := range [][]byte{data, sealed} {
			fs := newCrashFS(1)
			fs.names[logName] = &crashFile{fs: fs, data: bytes.Clone(data)}
			first, err := openRig(t, fs, FsyncAlways)
			if err != nil {
				continue
			}
			if err := first.log.journal.close(); err != nil {
				t.Fatal(err)
			}
			second, err := openRig(t, fs, FsyncAlways)
			if err != nil || fingerprint(second.Server) != fingerprint(first.Server) {
				t.Fatalf("the second time: %v", err)
			}
		}
	})
}
