//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// limited is a cell with other limits than the usual.
func limited(t *testing.T, l Limits) *cell {
	c := newCell(t)
	c.box.Limits = l.withDefaults()
	return c
}

// A file of more than the limit is not written, by no way there is.
func TestLimitOfFiles(t *testing.T) {
	t.Parallel()
	c := limited(t, Limits{File: 1 << 20})
	worked := c.attempts(map[string]string{
		"at-the-limit": "head -c 1048576 /dev/zero > a", "over-it": "head -c 1048577 /dev/zero > b",
		"holes": "truncate -s 2M c", "ahead": "fallocate -l 2M d", "raise": "ulimit -f unlimited", "core": "ulimit -c 1",
	})
	if len(worked) != 1 || worked[0] != "at-the-limit" {
		t.Errorf("what worked: %q, want only a file at the limit", worked)
	}
}

// Root is held to a number of processes by a control group, which is gone after
// the call; others by a limit of their own.
func TestLimitOfProcesses(t *testing.T) {
	t.Parallel()
	c := limited(t, Limits{Processes: 40})
	if os.Geteuid() != 0 {
		before, err := threads()
		most, misread := strconv.ParseUint(c.run("awk '/^Max processes/{printf $4}' /proc/self/limits", time.Minute).Stdout, 10, 64)
		if err := errors.Join(err, misread); err != nil || most > before+1000 {
			t.Errorf("at most %d processes, with %d on the machine, error %v", most, before, err)
		}
		return
	}
	if held := c.box.held(); held.Open != "" {
		t.Logf("this machine lets nobody make control groups: %s", held.Open)
		return
	}
	e := c.run(`n=0; while [ $n -lt 100 ]; do sleep 300 & n=$((n+1)); echo $n > n; done; cat /proc/self/cgroup`, time.Minute)
	if e.Code() == 0 {
		t.Errorf("a hundred processes were started: %+v", e)
	}
	if n, err := strconv.Atoi(strings.TrimSpace(c.read(filepath.Join(c.dir, "n")))); err != nil || n < 20 || n > 40 {
		t.Errorf("it started %d processes (%v), want some 39", n, err)
	}
	if left := leftGroups(c.dir); len(left) > 0 {
		t.Errorf("the control group %q is still there", left)
	}
}

// Who fills the disk is ended, and what it filled is free again.
func TestLimitOfDisk(t *testing.T) {
	t.Parallel()
	c := limited(t, Limits{Disk: 4 << 20})
	e := c.run("head -c 3M /dev/zero > a; head -c 3M /dev/zero > ~/b; sleep 300", time.Minute)
	if e.Cause != process.Overfull || e.Why != "it wrote more than the 4 MB that a call may; if it needs more, say so in the pipeline with `sandbox: disk`" {
		t.Errorf("it ended with %+v", e)
	}
	if exists(filepath.Join(c.root, "homes", "sh-tree", "b")) {
		t.Error("its home is as full as before")
	}
}

// What was there before a call, however much, is not its doing, and a disk that
// is nearly full from the start is left half of what it had.
func TestRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	testenv.Must(t, os.WriteFile(old, make([]byte, 64<<10), 0o600))
	r := newDiskWatch([]string{dir, filepath.Join(dir, "none")}, Limits{Disk: 32 << 10, Spare: 1})
	r.since = r.since.Add(time.Hour)
	if why := r.tooMuch(); why != "" || len(r.start) != 1 {
		t.Errorf("%d disks, too much: %q", len(r.start), why)
	}
	r.since, r.nextCount = r.since.Add(-2*time.Hour), time.Time{}
	if why := r.tooMuch(); !strings.HasPrefix(why, "it wrote more than the 32 kB that a call may; ") {
		t.Errorf("too much: %q", why)
	}
	r.nextCount, r.limits.Disk = time.Time{}, 1<<40
	r.start[0].bytes, r.limits.Spare = 1<<62, 1<<62
	if why := r.tooMuch(); !strings.Contains(why, "the disk of "+dir+" has only") {
		t.Errorf("too much: %q", why)
	}
	r.limits.Spare = 1
	if why := r.tooMuch(); why != "" {
		t.Errorf("too much: %q", why)
	}
	testenv.Must(t, os.Link(old, filepath.Join(dir, "other name")))
	r.folders, r.nextCount, r.limits.Disk = []string{dir, dir}, time.Time{}, 100<<10
	if why := r.tooMuch(); why != "" {
		t.Errorf("a file of 64 KB with two names, in a folder that is watched twice: too much: %q", why)
	}
	if r = newDiskWatch([]string{memory}, Limits{}); len(r.start) != 0 {
		t.Errorf("memory that is shared must leave room: %+v", r.start)
	}
	if r = WatchSpace(dir, dir); len(r.start) != 2 || len(r.folders) != 0 {
		t.Errorf("without a sandbox %d disks must leave room, and the files of %q are counted", len(r.start), r.folders)
	}
}

// Who ends sooner than another when memory runs out does so wherever that other
// stands.
func TestSooner(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "score")
	for now, want := range map[string]string{"0\n": "500", "-900\n": "-400", "500\n": "1000", "1000\n": "1000"} {
		testenv.Must(t, os.WriteFile(file, []byte(now), 0o600))
		err := sooner(file)
		if got, misread := os.ReadFile(file); err != nil || misread != nil || string(got) != want {
			t.Errorf("from %q to %q, want %s; error %v", now, got, want, err)
		}
	}
}

// A pair of sockets leads to nobody else, of whatever kind it is.
func TestPairsOfSockets(t *testing.T) {
	t.Parallel()
	c := limited(t, Limits{})
	at := filepath.Join(c.temp, "service")
	service, err := net.ListenPacket("unixgram", at)
	testenv.Must(t, err)
	defer func() { _ = service.Close() }()
	pair := func(kind, to string) string {
		return fmt.Sprintf(`perl -MSocket -e 'socketpair(A, B, AF_UNIX, %s, 0) && defined send(A, "x", 0%s) or exit 1'`, kind, to)
	}
	out := fmt.Sprintf(", pack_sockaddr_un(%q)", at)
	worked := c.attempts(map[string]string{
		"own-stream": pair("SOCK_STREAM", ""), "own-packets": pair("SOCK_SEQPACKET", ""),
		"datagrams": pair("SOCK_DGRAM", out), "raw": pair("SOCK_RAW", out), "with-flags": pair("SOCK_DGRAM|02000000", out),
	})
	if want := []string{"own-packets", "own-stream"}; !slices.Equal(worked, want) {
		t.Errorf("what worked: %q, want %q", worked, want)
	}
}

// A program changes nothing about processes of others, and shares no keys,
// memory, queues and semaphores with them; about itself it changes what it likes.
func TestFilteredCalls(t *testing.T) {
	t.Parallel()
	call := func(number int, rest string) string {
		return fmt.Sprintf(`perl -e '$n = pack "q*", 5, 5; $p = "\0" x 64; $name = "user"; $all = "\xff" x 8; exit(syscall(%d, %s) >= 0 ? 0 : 1)'`, number, rest)
	}
	other := os.Getpid()
	tried := map[string]string{
		"own-limits": call(unix.SYS_PRLIMIT64, "0, 7, 0, $p"), "own-priority": call(unix.SYS_SETPRIORITY, "0, 0, 19"),
		"own-group": call(unix.SYS_SETPRIORITY, "1, 0, 19"), "own-processors": call(unix.SYS_SCHED_SETAFFINITY, "0, 8, $all"),
		"own-disk": call(unix.SYS_IOPRIO_SET, "1, 0, 0"),

		"limits": call(unix.SYS_PRLIMIT64, fmt.Sprintf("%d, 7, 0, $p", other)), "priority": call(unix.SYS_SETPRIORITY, fmt.Sprintf("0, %d, 19", other)),
		"priority-of-user": call(unix.SYS_SETPRIORITY, "2, 0, 0"), "disk": call(unix.SYS_IOPRIO_SET, fmt.Sprintf("1, %d, 0", other)),
		"disk-of-user": call(unix.SYS_IOPRIO_SET, "3, 0, 0"), "processors": call(unix.SYS_SCHED_SETAFFINITY, fmt.Sprintf("%d, 8, $all", other)),
		"keys": call(unix.SYS_ADD_KEY, "$name, $name, $n, 4, -1"), "memory": call(unix.SYS_SHMGET, "0, 64, 01600"),
		"queue": call(unix.SYS_MSGGET, "0, 01600"), "semaphores": call(unix.SYS_SEMGET, "0, 1, 01600"),
	}
	want := []string{"own-disk", "own-group", "own-limits", "own-priority", "own-processors"}
	if worked := limited(t, Limits{}).attempts(tried); !slices.Equal(worked, want) {
		t.Errorf("what worked: %q, want %q", worked, want)
	}
	// Databases need memory that is shared this way as much as sockets.
	c := limited(t, Limits{})
	c.box.Sockets = true
	shared := fmt.Sprintf(`perl -e '$id = syscall(%d, 0, 64, 01600); $none = 0; exit($id >= 0 && syscall(%d, $id, 0, $none) == 0 ? 0 : 1)'`, unix.SYS_SHMGET, unix.SYS_SHMCTL)
	if worked := c.attempts(map[string]string{"memory": shared, "limits": tried["limits"]}); !slices.Equal(worked, []string{"memory"}) {
		t.Errorf("with sockets worked: %q", worked)
	}
}

// A pipeline can leave programs the sockets that have files.
func TestOwnSockets(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} {
		t.Run(fmt.Sprint(open), func(t *testing.T) {
			t.Parallel()
			c := limited(t, Limits{})
			c.box.Sockets = open
			held := c.box.held()
			if filtered := held.Landlock < socketABI; held.Sockets == (open && filtered) || held.Own != (open || !filtered) {
				t.Errorf("it holds %+v", held)
			}
			said := slices.ContainsFunc(held.Lacks(), func(s string) bool { return strings.HasSuffix(s, "as the pipeline says `sandbox: sockets: true`") })
			if said != !held.Sockets {
				t.Errorf("it lacks %q", held.Lacks())
			}
			listens := `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && bind(S, pack_sockaddr_un("own")) && listen(S, 1) or die $!; socket(T, AF_UNIX, SOCK_STREAM, 0) && connect(T, pack_sockaddr_un("own")) or die $!'`
			var want []string
			if held.Own {
				want = []string{"it"}
			}
			if worked := c.attempts(map[string]string{"it": listens}); !slices.Equal(worked, want) {
				t.Errorf("what worked: %q, want %q", worked, want)
			}
		})
	}
}

// A file without a name takes room as long as it is open, and who hides what it
// has open may not fill the disk either.
func TestLimitOfDiskForFilesWithoutNames(t *testing.T) {
	t.Parallel()
	// More and more, since whoever else is on this machine may give back some of the disk.
	const write = `open F, "+>", "big" or die; unlink "big"; close STDOUT; for (1..30) { print F "x" x 1000000 for 1..30; F->flush; select(undef, undef, undef, 1) }; sleep 300`
	for name, tt := range map[string]struct{ run, want string }{
		"open":   {"exec perl -MIO::Handle -e '" + write + "'", "it wrote more than the 4 MB"},
		"hidden": {fmt.Sprintf("exec perl -MIO::Handle -e 'syscall(%d, %d, 0, 0, 0, 0) == 0 or die; ", unix.SYS_PRCTL, unix.PR_SET_DUMPABLE) + write + "'", "hides its open files, and the disk has lost more than the 4 MB"},
	} {
		for _, s := range []separation{{namespaced: true}, {}} {
			t.Run(fmt.Sprintf("%s, %s", name, s.word()), func(t *testing.T) {
				t.Parallel()
				c := limited(t, Limits{Disk: 4 << 20})
				if !c.together(s) {
					return
				}
				want := tt.want
				switch {
				case os.Geteuid() == 0:
					want = "it wrote more than the 4 MB" // nothing is hidden from root
				case !s.namespaced:
					want = "more than the 4 MB" // files of others in the memory that is shared count, and may come first
				}
				if e := c.run(tt.run, 5*time.Minute); e.Cause != process.Overfull || !strings.Contains(e.Why, want) {
					t.Errorf("it ended with %+v", e)
				}
			})
		}
	}
}

// What a judge starts, such as the tests under review, answers in its name by no way that other programs have.
func TestJudgeIsNotReached(t *testing.T) {
	t.Parallel()
	call := func(format string, numbers ...any) string {
		return `perl -e "exit(syscall(` + fmt.Sprintf(format, numbers...) + `) >= 0 ? 0 : 1)"`
	}
	const seize = 0x4206
	tried := map[string]string{
		"open": ": >/proc/$$/fd/1", "memory": ": <>/proc/$$/mem", "trace": call("%d, %d, $$, 0, 0", unix.SYS_PTRACE, seize),
		"write": call("%d, $$, 0, 0, 0, 0, 0", unix.SYS_PROCESS_VM_WRITEV), "take": call("%d, syscall(%d, $$, 0), 1, 0", unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_OPEN),
	}
	for _, access := range []pipelines.Access{pipelines.AccessNone, pipelines.AccessRead, pipelines.AccessRun, pipelines.AccessTree} {
		c := limited(t, Limits{})
		c.access = access
		worked := c.attempts(tried)
		if access.Writes() && (!slices.Contains(worked, "open") || slices.Contains(worked, "memory")) || !access.Writes() && len(worked) > 0 {
			t.Errorf("%s: what worked: %q", access, worked)
		}
	}
}

// Before Landlock 3, which guards files against being cut, nothing of others is cut either, by no way there is.
func TestOlderLandlock(t *testing.T) {
	t.Parallel()
	for abi := range truncateABI + 1 {
		t.Run(fmt.Sprint(abi), func(t *testing.T) {
			t.Parallel()
			c := newCell(t)
			c.box.Helper = []string{testenv.Self(t), "fake", "enter an old one", fmt.Sprint(abi)}
			if abi == 0 {
				if e := c.run("true", time.Minute); e.Code() != 126 || !strings.Contains(e.Stderr, "too old") {
					t.Errorf("it ended with %+v", e)
				}
				return
			}
			cut := func(file string) string { return `perl -e 'truncate("` + file + `", 0) or exit 1'` }
			open := func(file string, flags int) string {
				return fmt.Sprintf(`perl -e 'sysopen(F, "%s", %d) or exit 1'`, file, flags)
			}
			theirs := filepath.Join(c.repo, ".git", "objects", "info", "readable")
			c.write(theirs, "x")
			worked := c.attempts(map[string]string{
				"cut": cut(theirs), "open": open(theirs, os.O_RDONLY|os.O_TRUNC), "write": open(theirs, os.O_WRONLY|os.O_TRUNC), "append": "echo >> " + theirs,
				"open-2": fmt.Sprintf(`perl -e '$how = pack("QQQ", %d, 0, 0); $file = "%s"; exit(syscall(%d, -100, $file, $how, 24) >= 0 ? 0 : 1)'`, os.O_RDONLY|os.O_TRUNC, theirs, unix.SYS_OPENAT2),
				"read":   open(theirs, os.O_RDONLY), "own-write": open("main.go", os.O_WRONLY|os.O_TRUNC), "own-both": open("main.go", os.O_RDWR|os.O_TRUNC), "own-file": "echo x > made && mv made moved",
			})
			if want := []string{"own-both", "own-file", "own-write", "read"}; !slices.Equal(worked, want) {
				t.Errorf("what worked: %q, want %q", worked, want)
			}
			if c.read(theirs) == "" {
				t.Error("the user's file is cut")
			}
		})
	}
}
