package environ

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// Holder is a process as it stands in the lease on a run. Jobs of one run of a workflow are told apart by the machine,
// and processes on it by what is random.
type Holder struct {
	Run     int64 // of the workflow
	Attempt int
	Runner  string // the machine; empty if it has no name
	random  string
}

var unfit = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// RunnerName is the name of a machine as it stands in a lease.
func RunnerName(name string) string {
	name = unfit.ReplaceAllString(name, "-")
	return name[:min(len(name), 60)]
}

// OwnerOf names this process: the run of a workflow, its attempt and its machine,
// or what else is known of where it runs.
func OwnerOf(env Env) string {
	own := randomName()[:12]
	if id := env.Getenv("GITHUB_RUN_ID"); id != "" {
		return strings.Join([]string{"actions", id, cmp.Or(env.Getenv("GITHUB_RUN_ATTEMPT"), "1"), RunnerName(env.Getenv("RUNNER_NAME")), own}, "/")
	}
	return "process/" + own
}

// ParseOwner reads what OwnerOf wrote, also as it was before it named a machine.
func ParseOwner(owner string) (Holder, bool) {
	parts := strings.Split(owner, "/")
	if parts[0] != "actions" || len(parts) != 3 && len(parts) != 5 {
		return Holder{}, false
	}
	id, err := strconv.ParseInt(parts[1], 10, 64)
	attempt, err2 := strconv.Atoi(parts[2])
	h := Holder{Run: id, Attempt: attempt}
	if len(parts) == 5 {
		h.Runner, h.random = parts[3], parts[4]
	}
	return h, err == nil && err2 == nil
}

// SameJob reports whether two processes, as OwnerOf names them, are of jobs of the same run of
// a workflow and of the same attempt.
func SameJob(a, b string) bool {
	one, known := ParseOwner(a)
	other, ok := ParseOwner(b)
	return known && ok && one.Run == other.Run && one.Attempt == other.Attempt
}
