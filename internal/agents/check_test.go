package agents

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// TestCheckEnvironment holds what checks see to what tools expect of CI: nothing
// forces colours or takes them away, and what the pipeline says is there.
func TestCheckEnvironment(t *testing.T) {
	b := newBench(t)
	b.opts.Environ = append(b.opts.Environ, "NO_COLOR=1", "FORCE_COLOR=1", "TERM=xterm", "LANG=C.UTF-8", "CI=false")
	r, err := b.opts.Check(t.Context(), b.dir, pipelines.Check{
		Name: "env", Run: "env | sort", Timeout: pipelines.Duration(time.Minute),
		Env: map[string]string{"GREETING": "hello, $HOME", "CI": "1"},
	})
	if err != nil || !r.Pass {
		t.Fatalf("%v, %+v", err, r)
	}
	lines := strings.Split(r.Output, "\n")
	for _, want := range []string{"GREETING=hello, $HOME", "CI=1", "GIT_TERMINAL_PROMPT=0", "LANG=C.UTF-8"} {
		if !slices.Contains(lines, want) {
			t.Errorf("there is no %s in\n%s", want, r.Output)
		}
	}
	for _, line := range lines {
		if name, _, _ := strings.Cut(line, "="); slices.Contains([]string{"NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TERM"}, name) {
			t.Errorf("a check sees %s", line)
		}
	}
	r, err = b.opts.Check(t.Context(), b.dir, pipelines.Check{Name: "ci", Run: `test "$CI" = true`, Timeout: pipelines.Duration(time.Minute)})
	if err != nil || !r.Pass {
		t.Errorf("without a word on it, CI is not true: %v, %+v", err, r)
	}
}

// TestHomeOfChecks has the code that a check runs plant what decides about later
// checks. Only caches are there for them.
func TestHomeOfChecks(t *testing.T) {
	c := newCell(t)
	const lint = "git diff --check HEAD"
	c.write(filepath.Join(c.dir, "main.go"), "package main \n")
	outside := filepath.Join(c.root, "homes", "other")
	c.write(filepath.Join(outside, "repository", "theirs"), "theirs")
	check := func(run string) bool {
		t.Helper()
		r, err := c.opts.Check(t.Context(), c.dir, pipelines.Check{Name: "it", Run: run, Timeout: pipelines.Duration(time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		return r.Pass
	}
	if check(lint) {
		t.Fatal("what is wrong passes: this test shows nothing")
	}
	if !check("git config --global core.whitespace -blank-at-eol && " + lint) {
		t.Fatal("the attack does not work within one check: this test shows nothing")
	}
	if check(lint) {
		t.Error("what one check left in its home decided about the next")
	}
	if !check(`mkdir -p ~/.cache/tool ~/.local/share/pnpm/store ~/.config ~/.m2 && touch ~/.cache/tool/built ~/.local/share/pnpm/store/got ~/.bashrc ~/.config/x &&
		ln -s ../../other/repository ~/.m2/repository && mkdir -p ~/locked/in && touch ~/locked/in/x && chmod 0555 ~/locked/in ~/locked && chmod 0555 ~/.cache`) {
		t.Fatal("the next check could not write to its home")
	}
	if !check(`test -z "$(find ~ -mindepth 1)"`) {
		left, _ := filepath.Glob(filepath.Join(c.root, "homes", "check-tree", "*"))
		t.Errorf("a later check finds %q in its home", left)
	}
	if _, err := os.Stat(filepath.Join(outside, "repository", "theirs")); err != nil {
		t.Errorf("what a link led to was taken away: %v", err)
	}
	judged := c.opts
	c.opts = judged.Unchanged()
	if !check("mkdir -p ~/.cache/tool && touch ~/.cache/tool/built ~/.bashrc") {
		t.Fatal("a check of unchanged code could not write to its home")
	}
	c.opts = judged
	for range 2 {
		if !check("test -e ~/.cache/tool/built && test -e ~/.bashrc && test ! -e ~/more && touch ~/more") {
			t.Error("what unchanged code left is not there, or what other code left is")
		}
	}
}

// A check has the network that its phase has: all of it, none, or by way of a gate
// the hosts that are listed. What it was refused is in its output.
func TestNetworkOfChecks(t *testing.T) {
	c := newCell(t)
	world := httptest.NewServer(http.NotFoundHandler())
	defer world.Close()
	host := strings.TrimPrefix(world.URL, "http://")
	_, port, _ := strings.Cut(host, ":")
	direct := `perl -MSocket -e 'socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in(` + port + `, inet_aton("127.0.0.1"))) or exit 1'`
	gate := `perl -MSocket -MMIME::Base64 -e '($who, $port) = $ENV{HTTP_PROXY} =~ m{^http://(.*)\@127.0.0.1:(\d+)} or die; $who = encode_base64($who, "");
		socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in($port, inet_aton("127.0.0.1"))) or die $!;
		syswrite S, "GET http://' + host + '/ HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic $who\r\n\r\n"; exit(<S> =~ / 404 / ? 0 : 1)'`
	gate = strings.Replace(gate, "' + host + '", host, 1)
	for _, tt := range []struct {
		name    string
		network pipelines.Network
		run     string
		pass    bool
		says    string
	}{
		{"open", pipelines.Network{}, direct, true, ""},
		{"closed", pipelines.Network{Closed: true}, direct, false, ""},
		{"listed, but not by the gate", pipelines.Network{Closed: true, Allow: []string{host}}, direct, false, ""},
		{"listed", pipelines.Network{Closed: true, Allow: []string{host}}, gate, true, ""},
		{"not listed", pipelines.Network{Closed: true, Allow: []string{"example.com"}}, gate, false, "reprise: it was refused hosts that the pipeline does not allow: " + host + " (1); `network: allow: [\"" + host + "\"]` would allow them"},
	} {
		r, err := c.opts.Check(t.Context(), c.dir, pipelines.Check{Name: "it", Run: tt.run, Timeout: pipelines.Duration(time.Minute), Network: tt.network})
		if err != nil || r.Pass != tt.pass || !strings.Contains(r.Output, tt.says) {
			t.Errorf("%s: %+v, error %v", tt.name, r, err)
		}
	}
}

// A check that fails names the tests: in what it prints, and in files of JUnit's
// format, of which those in folders that others install are none of its own.
func TestTestsThatFailed(t *testing.T) {
	b := newBench(t)
	report := func(file, test string) string {
		return "mkdir -p $(dirname " + file + "); echo '<testsuite><testcase classname=\"a.B\" name=\"" + test + "\"><failure/></testcase></testsuite>' > " + file + "\n"
	}
	run := "echo '--- FAIL: TestA (0.00s)'\n" + report("web/target/surefire-reports/TEST-a.xml", "maven") + report("out/report.xml", "own") +
		report("node_modules/x/surefire-reports/TEST-b.xml", "of others") + report("other.xml", "not asked for") + "mkfifo out/pipe.xml; ln -s /dev/zero out/zero.xml\n"
	stale := filepath.Join(b.dir, "old/surefire-reports/TEST-c.xml") // nobody knows of what
	testenv.Must(t, testenv.PutText(stale, `<testsuite><testcase classname="a.B" name="of before"><failure/></testcase></testsuite>`))
	testenv.Must(t, os.Chtimes(stale, time.Time{}, time.Now().Add(-time.Second)))
	for end, want := range map[string][]string{"exit 1": {"TestA", "a.B own", "a.B maven"}, "exit 0": nil} {
		r, err := b.opts.Check(t.Context(), b.dir, pipelines.Check{Name: "unit", Run: "rm -rf out\n" + run + end, Timeout: pipelines.Duration(time.Minute), JUnit: []string{"out/*.xml"}})
		if err != nil || !slices.Equal(r.FailedTests, want) {
			t.Errorf("%s: %q, %v, want %q", end, r.FailedTests, err, want)
		}
	}
}
