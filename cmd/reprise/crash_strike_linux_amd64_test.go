//go:build slow || e2e

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/metadata"
)

// blow is a turn at one of whose steps something was done to the program.
type blow struct {
	what string
	code int // exit code of the program
	said string
	hit  int           // the step; 0: the turn was over before
	log  []string      // the steps up to there
	took time.Duration // from there to the end
	most time.Duration // that it may take if it was told to stop, see soon
}

// strikes has the next program on a stand be struck at one of its steps, see
// traced. What it returns says how that went, once the program is over.
func (s *stand) strikes(what string, at int) func(*life) blow {
	log := s.path("steps.log")
	s.under = []string{program(s.t, "traced"), what, strconv.Itoa(at), log}
	return func(l *life) blow {
		s.t.Helper()
		s.under = nil
		b := blow{what: what, code: l.code(), said: l.said.String()}
		data, err := os.ReadFile(log)
		if b.code == 125 || err != nil {
			s.t.Fatalf("tracing fails: %v: %s", err, b.said)
		}
		first, rest, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
		var took string
		if _, err := fmt.Sscan(first, &b.hit, &took); err != nil {
			s.t.Fatalf("%q: %v", first, err)
		}
		if b.took, err = time.ParseDuration(took); err != nil {
			s.t.Fatal(err)
		}
		b.log, b.most = strings.Split(rest, "\n"), l.soon()-5*b.took
		return b
	}
}

// where says where it was.
func (b blow) where() string {
	return fmt.Sprintf("%s at step %d (%s)", b.what, b.hit, strings.Join(b.log[max(0, len(b.log)-6):], ", "))
}

// wrong says what is wrong with how the program ended.
func (b blow) wrong(sc *scene) string {
	sc.t.Helper()
	tooEarly := b.what == "term" && b.code == 128+15 && b.said == "" // it had not begun to listen
	switch {
	case strings.Contains(b.said, "panic:") || strings.Contains(b.said, "goroutine "):
		return "it panicked"
	case strings.HasPrefix(b.what, "kill"):
		return "" // it had no say
	case b.what != "term" && (b.code == exit.Done || b.code == exit.Failed && strings.Contains(b.said, syscallError(b.what))):
		return ""
	case b.what == "term" && (b.code == exit.Done || b.code == exit.Cancelled || tooEarly) && b.took < b.most:
		if left := sc.alive(); len(left) > 0 && !tooEarly {
			return fmt.Sprintf("these are still at work: %q", left)
		}
		return sc.toldSo(b)
	}
	return fmt.Sprintf("exit code %d after %v", b.code, b.took)
}

// syscallError is what the system says of the error that a blow gave.
func syscallError(what string) string { return errnoOf(strings.TrimSuffix(what, "+")).Error() }

// toldSo says whether the record tells that the run was told to stop: once the
// run was at work, it has to.
func (sc *scene) toldSo(b blow) string {
	sc.t.Helper()
	if b.code != exit.Cancelled || !strings.Contains(b.said, " > starts: ") {
		return ""
	}
	if run := sc.holds("7"); run.Status != metadata.Interrupted && run.Status != metadata.Completed {
		return fmt.Sprintf("the run is %s", run.Status)
	}
	return ""
}

// alive lists the programs that somebody on this stand has started and that are
// not over.
func (sc *scene) alive() []string {
	var out []string
	processes, _ := filepath.Glob("/proc/[0-9]*") // a valid pattern
	for _, dir := range processes {
		env, _ := os.ReadFile(filepath.Join(dir, "environ")) // it may be gone, or somebody else's
		if slices.Contains(strings.Split(string(env), "\x00"), "HOME="+sc.path("home")) {
			line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			out = append(out, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return out
}

// finishTurn brings a turn that was broken off to its end, and says in what the
// world then differs from one in which nothing had happened. The call of the agent that
// was at work in each lane may have been lost.
func (sc *scene) finishTurn(d *turn) string {
	sc.t.Helper()
	sc.looks()
	d.finish(sc)
	diff := cmp.Diff(d.want, sc.picture())
	more := 0
	calls := sc.calls()
	for call, n := range calls {
		more += n - d.calls[call]
		if n < d.calls[call] {
			more = -100
		}
	}
	if more < 0 || more > sc.lanes {
		diff += fmt.Sprintf("the agent was called for %v, and not for %v\n", calls, d.calls)
	}
	return diff
}

// looks asks where the run is, which is answered at any moment.
func (sc *scene) looks() {
	sc.t.Helper()
	l := sc.start("status", "--issue", "7")
	if code := l.code(); code == 0 {
		return
	}
	if said := l.said.String(); !strings.Contains(said, "there is no run for issue 7") || sc.git("project", "for-each-ref", "refs/heads/reprise") != "" {
		sc.t.Errorf("status: %s", said)
	}
}

// bear strikes at one step, and reports whether there was such a step.
func (sc *scene) bear(d *turn, what string, at int) bool {
	sc.t.Helper()
	sc.copy(d.before, sc.dir)
	over := sc.strikes(what, at)
	b := over(sc.start(d.args...))
	if b.hit == 0 {
		return false
	}
	wrong := b.wrong(sc)
	if wrong += sc.finishTurn(d); wrong != "" {
		sc.t.Errorf("%s, %s: %s\n%s", d.name, b.where(), wrong, b.said)
	}
	return true
}
