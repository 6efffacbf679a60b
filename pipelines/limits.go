package pipelines

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
)

// Budget is what a run may spend; zero means no limit.
type Budget struct {
	USD      float64   `json:"usd,omitempty"`
	Tokens   int64     `json:"tokens,omitempty"`
	Time     text.Time `json:"time,omitempty"`
	Attempts int       `json:"attempts,omitempty"`
	IssueUSD float64   `json:"issue_usd,omitempty"` // over all runs of the issue
	DayUSD   float64   `json:"day_usd,omitempty"`   // of this run, in one day in UTC
	// RepoDayUSD is over all runs of the repository, in one day in UTC.
	RepoDayUSD float64 `json:"repo_day_usd,omitempty"`
}

// Limits is how much one step may change. The zero value stands for the defaults, and so does each field of it.
type Limits struct {
	Files  int       `json:"files,omitempty"`  // changed files, removed ones included; default 100
	Bytes  text.Size `json:"bytes,omitempty"`  // of the changed files together; default 4 MB
	Binary []string  `json:"binary,omitempty"` // path patterns of what may be binary, programs and archives included
}

// Most returns the two limits that count.
func (l Limits) Most() (files int, bytes text.Size) {
	return cmp.Or(l.Files, 100), cmp.Or(l.Bytes, 4*text.MB)
}

// Sandbox is what the sandbox leaves to agents and checks.
type Sandbox struct {
	Sockets bool      `json:"sockets,omitempty"` // sockets with files of their own; where Landlock does not guard those of others, these are open, too
	File    text.Size `json:"file,omitempty"`    // the most that one file may have; usually 1 GB
	Disk    text.Size `json:"disk,omitempty"`    // the most that one call may write; usually 4 GB
}

// Access is how much an agent may do.
type Access string

// The levels, each containing the one before, but that Artifacts does not contain Run.
const (
	AccessNone      Access = "none"      // no tools
	AccessRead      Access = "read"      // may look
	AccessRun       Access = "run"       // may run commands, in a copy of the tree that is thrown away
	AccessArtifacts Access = "artifacts" // may write the phase's artifact folder
	AccessTree      Access = "tree"      // may write the tree, protected paths aside
)

// Writes says whether what is written with this access is kept.
func (a Access) Writes() bool { return a == AccessArtifacts || a == AccessTree }

// Runs says whether commands may be run with this access.
func (a Access) Runs() bool { return a == AccessRun || a == AccessTree }

// AtMost gives what two levels have in common. An empty limit limits nothing.
func (a Access) AtMost(limit Access) Access {
	if a == AccessRun && limit == AccessArtifacts || a == AccessArtifacts && limit == AccessRun {
		return AccessRead
	}
	levels := []Access{AccessNone, AccessRead, AccessRun, AccessArtifacts, AccessTree}
	if i := slices.Index(levels, limit); i >= 0 && i < slices.Index(levels, a) {
		return limit
	}
	return a
}

// Network is what a program may reach of the network. The zero value is all of
// it. As JSON it is "open", "model", or an object with allow and listen.
type Network struct {
	Closed bool     `json:"-"`                // only the models that agents work with, and what Allow lists
	Allow  []string `json:"allow,omitempty"`  // hosts: as host, host:port, or with a leading "*." for all below a domain
	Listen bool     `json:"listen,omitempty"` // it may have servers of its own on loopback
}

// The words for it.
const (
	openNetwork  = "open"
	modelNetwork = "model"
)

// object is the form with its fields.
type object Network

// MarshalJSON gives the shortest form.
func (n Network) MarshalJSON() ([]byte, error) {
	switch {
	case !n.Closed:
		return json.Marshal(openNetwork)
	case len(n.Allow) == 0 && !n.Listen:
		return json.Marshal(modelNetwork)
	}
	return json.Marshal(object(n))
}

// UnmarshalJSON reads any form.
func (n *Network) UnmarshalJSON(data []byte) error {
	var word string
	if json.Unmarshal(data, &word) == nil {
		*n = Network{Closed: word != openNetwork}
		return nil
	}
	*n = Network{Closed: true}
	return json.Unmarshal(data, (*object)(n))
}

// String is the form for people: "open", "model", or what else may be reached.
func (n Network) String() string {
	if !n.Closed {
		return openNetwork
	}
	out := append([]string{modelNetwork}, n.Allow...)
	if n.Listen {
		out = append(out, "servers of its own")
	}
	return strings.Join(out, ", ")
}

// hostForm matches a name or an address of version 6 in brackets, and the port behind a colon.
var hostForm = text.Pattern(`^((?:\*\.)?(?:` + label + `\.)*` + label + `|\[[0-9A-Fa-f:.]+\])(?::([0-9]+))?$`)

const label = `[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?`

// BadHost says why a text cannot stand for hosts that may be reached, or "".
func BadHost(text string) string {
	const expected = `is no host, expected one such as "registry.npmjs.org", "*.example.com" or "example.com:8443", without https://`
	if a, err := netip.ParseAddr(text); err == nil && a.Is6() {
		return ""
	}
	m := hostForm().FindStringSubmatch(text)
	if m == nil {
		return expected
	}
	if a, err := netip.ParseAddr(strings.Trim(m[1], "[]")); m[1][0] == '[' && (err != nil || !a.Is6()) {
		return expected
	}
	if n, err := strconv.ParseUint(m[2], 10, 16); m[2] != "" && (err != nil || n == 0) {
		return "has no port from 1 to 65535 after its colon"
	}
	return ""
}

var addressForm = text.Pattern(`^(?:https://(?:[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])|http://(?:localhost|127\.0\.0\.1|\[::1\]))(?::[1-9][0-9]{0,4})?(?:[/?][^#\s[:cntrl:]]*)?$`)

// BadAddress says why a text is no address of a webhook or of a server of tools, or "".
func BadAddress(text string) string {
	if u, err := url.Parse(text); err == nil && addressForm().MatchString(text) && BadHost(u.Host) == "" {
		return ""
	}
	return "is no address, expected one with https://, or of this machine with http://localhost, without a login and without #"
}

// WithheldFromAll says why no agent and no check may see an environment variable, or
// nothing. These hold the rights of the run itself, speak to the runner, or have
// a program load what others choose.
func WithheldFromAll(name string) string {
	for why, patterns := range map[string][]string{
		"never given on, as %s carry the rights of the run; use a variable of another name with only what is needed":    {"GITHUB_*", "GH_*", "ACTIONS_*", "RUNNER_*", "INPUT_*"},
		"never given on, as %s have every program load what they name; set it in the command for the one that needs it": {"LD_*", "DYLD_*"},
		"reprise keeps %s for itself": {"REPRISE_*", "CLAUDECODE"},
	} {
		for _, p := range patterns {
			if ok, _ := path.Match(p, strings.ToUpper(name)); ok {
				return fmt.Sprintf(why, p)
			}
		}
	}
	if name == "" || strings.ContainsAny(name, "=\x00*") {
		return "this is not the name of a variable"
	}
	return ""
}

// WithheldFromChecks says besides what else no check is given, or nothing.
func WithheldFromChecks(name string) string {
	switch name {
	case "HOME", "TMPDIR":
		return "each check has its own; set it in the command if it has to be another"
	case "PATH":
		return "it is that of reprise; set it in the command if it has to be another"
	}
	return WithheldFromAll(name)
}
