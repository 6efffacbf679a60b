//go:build slow || e2e

package main

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/metadata"
)

// trouble is a way in which a route goes wrong: once, or as long as the first job lasts.
type trouble struct {
	fault
	lasts bool
}

func (w trouble) String() string {
	if w.lasts {
		return w.name + ", and again"
	}
	return w.name
}

// troubles are all of them that differ for the program: what else the faults are, the client
// of the forge makes the same of, as its own tests say.
func troubles() (out []trouble) {
	same := map[string]string{"hang": "reset", "drop": "reset", "secondary limit": "429"}
	for _, f := range faults() {
		if same[strings.TrimSuffix(f.name, " after it was done")] == "" {
			out = append(out, trouble{f, false}, trouble{f, true})
		}
	}
	return out
}

// someTroubles are those that say most.
func someTroubles() []trouble {
	return slices.DeleteFunc(troubles(), func(w trouble) bool {
		return !slices.Contains([]string{"403, and again", "502, and again", "reset", "502 after it was done", "422", "404, and again"}, w.String())
	})
}

// goes leads an errand to its end, and gives what its jobs said. Where the answer was
// plainly no, what people do by hand may be left to them without a word.
func (a *asked) goes(start func(...string) *hubJob, in string, plainly bool) (log string) {
	a.t.Helper()
	number := 0
	for try := 1; ; try++ {
		var more []string
		if !a.fails && a.now().Status == metadata.Failed { // and people were told what to do
			start, try, a.commander = a.says("ada", "/run"), max(try, 2), "ada"
		} else if try > 1 && a.anew != "" {
			start = a.says("ada", a.anew)
		} else if try > 1 {
			more = []string{fmt.Sprintf("GITHUB_RUN_ID=%d", number), fmt.Sprintf("GITHUB_RUN_ATTEMPT=%d", try)}
			a.forge.AddRun(hubRepo, githubtest.Run{ID: int64(number), Attempt: try})
		}
		j := start(more...)
		if len(more) == 0 {
			number = 9000 + a.jobs
		}
		j.finish()
		a.forge.FaultWhen(func(githubtest.Request) *githubtest.Fault { return nil })
		log += fmt.Sprintf("--- attempt %d: exit %d, %v\n%s\n", try, j.code(), j.outputs, j.said.String())
		left := a.left()
		if left == "" {
			if minor := a.minor(); minor != "" && !plainly && !strings.Contains(log, "::warning::") {
				a.t.Errorf("%s: nobody is told that this is missing: %s\n%s", in, minor, log)
			}
			return log
		}
		said := strings.Contains(j.said.String(), "::warning::") || strings.Contains(j.said.String(), "::error::")
		switch {
		case j.code() == exit.Done && !said && !plainly:
			a.t.Errorf("%s: the job says that all is well, and this is missing: %s\n%s", in, left, log)
		case j.outputs["reason-code"] == "" || strings.TrimSpace(j.summary) == "":
			a.t.Errorf("%s: the job does not say why\n%s", in, log)
		}
		if try > 3 {
			a.t.Fatalf("%s: after %d jobs this is missing: %s\n%s", in, try, left, log)
		}
	}
}

// plainly are answers that say no, and are believed.
var plainly = regexp.MustCompile(`^(404|410|422)`)

// suffers leads an errand to its end while a route goes wrong, and gives how often the
// first job has called it.
func (a *asked) suffers(route string, w trouble) int64 {
	a.t.Helper()
	in := fmt.Sprintf("%s: %s", route, w)
	start, calls := a.ask(), new(atomic.Int64)
	a.forge.FaultWhen(func(r githubtest.Request) *githubtest.Fault {
		if routeOf(r) != route || calls.Add(1) > 1 && !w.lasts {
			return nil
		}
		return &w.Fault
	})
	log := a.goes(start, in, plainly.MatchString(w.name))
	if twice := first(a.once() == "", a.once(), a.twice() == "", a.twice()); twice != "" {
		a.t.Fatalf("%s: %s\n%s", in, twice, log)
	}
	if err := a.keepsToken(); err != nil {
		a.t.Fatalf("%s: %v", in, err)
	}
	return calls.Load()
}

// lives has an errand live with a route that goes wrong as long as a job lasts, and with
// both once as well. Where the job has called it one time only, that would be the same life.
func (e errand) lives(t *testing.T, route string, w trouble, both bool) {
	t.Parallel()
	calls := e.prepare(t).suffers(route, w)
	if once := (trouble{w.fault, false}); both && calls > 1 && once.meetsRoute(route) {
		e.prepare(t).suffers(route, once)
	}
}

// calls gives the routes that an errand calls when nothing goes wrong.
func (e errand) calls(t *testing.T) []string {
	a := e.prepare(t)
	before, stops := len(a.forge.Requests()), len(a.ours("stop"))
	log := a.goes(a.ask(), e.name, false)
	if wrong := a.toldBriefly(before, stops); strings.HasPrefix(e.name, "stop ") && wrong != "" {
		t.Errorf("undisturbed: %s", wrong)
	}
	if left := first(a.minor() == "", a.minor(), a.once() == "", a.once(), a.twice() == "", a.twice()); left != "" {
		t.Fatalf("undisturbed: %s\n%s", left, log)
	}
	routes := map[string]bool{}
	for _, r := range a.forge.Requests()[before:] {
		routes[routeOf(r)] = true
	}
	return slices.Sorted(maps.Keys(routes))
}

// meetsRoute reports whether a route is worth a trouble: what reads does nothing before its
// answer goes wrong, and where that passes, the client asks again and nobody learns of it,
// whatever it was.
func (w trouble) meetsRoute(route string) bool {
	if !strings.HasPrefix(route, http.MethodGet+" ") {
		return true
	}
	passes := slices.Contains([]string{"429", "502", "half"}, w.name)
	return !w.After && (w.lasts || !passes)
}

// elsewhere are the routes that no errand calls, and why.
var elsewhere = map[string]string{
	"GET /search/issues":                                                      "the command work alone",
	inRepo("GET", ""):                                                         "where an event does not name the default branch, and doctor",
	inRepo("GET", "/actions/permissions/workflow"):                            "doctor alone",
	inRepo("GET", "/branches/{branch}"):                                       notCalled,
	inRepo("GET", "/git/blobs/{file_sha}"):                                    "files of more than 1 MB",
	inRepo("GET", "/actions/runs/{run_id}"):                                   "where another job has the run: TestTwoJobsAnytime",
	inRepo("GET", "/actions/runs/{run_id}/attempts/{attempt_number}/jobs"):    "the same",
	inRepo("DELETE", "/issues/comments/{comment_id}"):                         "where two jobs write at once: TestTwoJobsAnytime",
	inRepo("GET", "/issues/{issue_number}/sub_issues"):                        "work for other issues: TestForgeGoesWrong",
	inRepo("POST", "/issues/{issue_number}/sub_issues"):                       "the same",
	inRepo("GET", "/issues/{issue_number}/labels"):                            notCalled,
	inRepo("DELETE", "/issues/comments/{comment_id}/reactions/{reaction_id}"): notCalled,
	inRepo("GET", "/issues/{issue_number}/reactions"):                         notCalled,
	inRepo("POST", "/issues/{issue_number}/reactions"):                        notCalled,
	inRepo("DELETE", "/issues/{issue_number}/reactions/{reaction_id}"):        notCalled,
}

const notCalled = "reprise does not ask for it"

func inRepo(method, path string) string { return method + " /repos/{owner}/{repo}" + path }

// Whatever route goes wrong while something is asked of a run, once or as long as the job
// lasts, it is done once, or the job says why not, and starting again brings it to its end.
// There is no route that none of this calls.
func TestErrandsGoWrong(t *testing.T) { errandsGoWrong(t, someTroubles(), 388) }

// Whatever goes wrong as the forge makes and signs commits, none is lost, and the next job goes on.
func TestSigningGoesWrong(t *testing.T) {
	for _, w := range someTroubles() {
		if route := inRepo("POST", "/git/commits"); w.meetsRoute(route) {
			t.Run(w.String(), func(t *testing.T) { errand{"signed", askedSigned}.lives(t, route, w, false) })
		}
	}
}

// errandsGoWrong has the routes of all errands go wrong: each in each way, or at every so
// manyth of all pairs.
func errandsGoWrong(t *testing.T, ways []trouble, every int) {
	t.Parallel()
	called, mu := map[string]bool{}, new(sync.Mutex)
	t.Run("errands", func(t *testing.T) {
		for nth, e := range errands() {
			t.Run(e.name, func(t *testing.T) {
				t.Parallel()
				routes := e.calls(t)
				mu.Lock()
				for _, route := range routes {
					called[route] = true
				}
				mu.Unlock()
				n := 0
				for i, w := range ways {
					for k, route := range routes {
						// Errands have some hundred pairs each: far apart, so that a sample meets most of them.
						both := every == 1 // then each way is tried as long as a job lasts, too
						if both && !w.lasts || !w.meetsRoute(route) || (97*nth+i*len(routes)+k)%every > 0 {
							continue
						}
						n++
						t.Run(fmt.Sprintf("%s, %s", strings.ReplaceAll(route, "/", "|"), w), func(t *testing.T) { e.lives(t, route, w, both) })
					}
				}
				t.Logf("%d routes, %d lives or pairs of them", len(routes), n)
			})
		}
	})
	t.Run("all routes", func(t *testing.T) {
		for _, route := range append(githubtest.Routes(), "POST /graphql minimizeComment", "POST /graphql markPullRequestReadyForReview", "POST /graphql convertPullRequestToDraft",
			inRepo("POST", "/actions/workflows/{workflow_id}/dispatches")+mayStart,
		) {
			if why, is := elsewhere[route]; called[route] == is {
				t.Errorf("%s is called by an errand: %v; what stands of it in the table: %q", route, called[route], why)
			}
		}
	})
}
